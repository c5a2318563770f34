package masking

// strongWords mask every key that contains one of them ("passw" matches password and
// passwd).
var strongWords = []string{
	"passw", "passphrase", "secret", "credential", "authorization", "cookie", "privatekey",
}

// endWords mask every key with one of these suffixes, or its plural.
var endWords = []string{
	"pwd", "token", "apikey", "accesskey", "signingkey", "encryptionkey", "sessionid",
	"connectionstring",
}

// countWords are not secrets in the plural: language models count such tokens.
var countWords = []string{
	"maxtoken", "mintoken", "totaltoken", "numtoken", "usedtoken", "remainingtoken", "prompttoken",
	"completiontoken", "inputtoken", "outputtoken", "cachedtoken", "reasoningtoken",
}

// lastWords mask every key whose last word is one of them or its plural, as
// AddMaskedKeys does: "pin" masks "card_pin" and "cardPin", but not "spin".
var lastWords = []string{
	"jwt", "otp", "cvv", "cvc", "dsn", "bearer", "pass", "passcode", "pin", "pincode",
	"cardnumber", "cardno", "creditcard", "securitycode",
}

// qualifiers may follow a last word, as in "pin_hash" and "otpCode".
var qualifiers = []string{"code", "codes", "hash", "old", "new", "again", "confirm"}

// separators separate the words of a key. Digits may follow the last separator, as in
// "token_2".
const separators = "_-. :/"
