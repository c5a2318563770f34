package masking

// strongWords mask every key that holds one of them anywhere ("passw" is password and
// passwd).
var strongWords = []string{
	"passw", "passphrase", "secret", "credential", "authorization", "cookie", "privatekey",
}

// endWords mask every key that ends in one of them, or in its plural.
var endWords = []string{
	"pwd", "token", "apikey", "accesskey", "signingkey", "encryptionkey", "sessionid",
	"connectionstring",
}

// countWords are no secrets where an s follows them: they count tokens, as language
// models do.
var countWords = []string{
	"maxtoken", "mintoken", "totaltoken", "numtoken", "usedtoken", "remainingtoken", "prompttoken",
	"completiontoken", "inputtoken", "outputtoken", "cachedtoken", "reasoningtoken",
}

// lastWords mask every key whose last word is one of them, or its plural, the way
// AddMaskedKeys does: "pin" masks "card_pin" and "cardPin", not "spin".
var lastWords = []string{
	"jwt", "otp", "cvv", "cvc", "dsn", "bearer", "pass", "passcode", "pin", "pincode",
	"cardnumber", "cardno", "creditcard", "securitycode",
}

// qualifiers may follow a last word, as in "pin_hash" and "otpCode".
var qualifiers = []string{"code", "codes", "hash", "old", "new", "again", "confirm"}

// separators stand between the words of a key; digits may follow the last one too, as in
// "token_2".
const separators = "_-. :/"
