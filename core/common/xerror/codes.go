package xerror

// The error catalogue. Each code has a number, a label, and an English and a Chinese
// message. Numbers and labels are part of the wire format: add codes, but never change
// them.
var (
	// 400: invalid request

	NotExist   = define(40000, "NOT_EXIST", "The requested item does not exist", "请求的内容不存在")
	Existed    = define(40001, "EXISTED", "The item already exists", "内容已存在")
	Expired    = define(40002, "EXPIRED", "The item has expired", "内容已过期")
	Disabled   = define(40003, "DISABLED", "The item is disabled", "内容已被禁用")
	Locked     = define(40004, "LOCKED", "The item is locked", "内容已被锁定")
	Pending    = define(40005, "PENDING", "The item is still being processed", "内容正在处理中")
	Rejected   = define(40006, "REJECTED", "The request was rejected", "请求已被驳回")
	Canceled   = define(40007, "CANCELED", "The request was canceled", "请求已取消")
	BadRequest = define(40010, "BAD_REQUEST", "The request is not valid", "请求无效")

	ParameterError = define(40011, "PARAMETER_ERROR", "A parameter is wrong", "参数错误")
	ParameterEmpty = define(40012, "PARAMETER_EMPTY", "A required parameter is missing", "缺少必填参数")
	ParameterType  = define(40013, "PARAMETER_TYPE", "A parameter has the wrong type", "参数类型错误")
	BodyError      = define(40014, "BODY_ERROR", "The request body is not valid", "请求体有误")
	BodyEmpty      = define(40015, "BODY_EMPTY", "The request body is empty", "请求体为空")
	BodyType       = define(40016, "BODY_TYPE", "A field of the request body has the wrong type",
		"请求体的字段类型错误")
	HeaderError = define(40017, "HEADER_ERROR", "A request header is not valid", "请求头有误")
	HeaderEmpty = define(40018, "HEADER_EMPTY", "A required request header is missing",
		"缺少必需的请求头")
	HeaderType = define(40019, "HEADER_TYPE", "A request header has the wrong type", "请求头类型错误")

	OperationError   = define(40020, "OPERATION_ERROR", "The operation went wrong", "操作出错")
	OperationFailed  = define(40021, "OPERATION_FAILED", "The operation failed", "操作失败")
	OperationDenied  = define(40022, "OPERATION_DENIED", "The operation was denied", "操作被拒绝")
	OperationInvalid = define(40023, "OPERATION_INVALID", "The operation is not valid here",
		"当前无法执行此操作")
	DeveloperError = define(40024, "DEVELOPER_ERROR",
		"The service does not handle this request correctly; please tell its developers",
		"服务未正确处理此请求，请联系开发者")
	RepeatOperation = define(40025, "REPEAT_OPERATION",
		"The operation has already been carried out", "请勿重复操作")
	UnsupportedOp = define(40026, "UNSUPPORTED_OPERATION", "The operation is not supported",
		"不支持此操作")

	ValidationError = define(40030, "VALIDATION_ERROR", "The input did not pass validation",
		"输入校验未通过")
	FormatError  = define(40031, "FORMAT_ERROR", "The format is wrong", "格式错误")
	LengthError  = define(40032, "LENGTH_ERROR", "The length is not allowed", "长度不符合要求")
	RangeError   = define(40033, "RANGE_ERROR", "The value is out of range", "数值超出范围")
	PatternError = define(40034, "PATTERN_ERROR",
		"The value does not match the required pattern", "内容不符合规定的格式")
	TypeMismatch  = define(40035, "TYPE_MISMATCH", "The types do not match", "类型不匹配")
	InvalidValue  = define(40036, "INVALID_VALUE", "The value is not valid", "值无效")
	InvalidFormat = define(40037, "INVALID_FORMAT", "The format is not valid", "格式无效")
	InvalidState  = define(40038, "INVALID_STATE", "The current state does not allow this",
		"当前状态不允许此操作")
	InvalidInput = define(40039, "INVALID_INPUT", "The input is not valid", "输入无效")

	DataError    = define(40040, "DATA_ERROR", "The data is wrong", "数据错误")
	DataInvalid  = define(40041, "DATA_INVALID", "The data is not valid", "数据无效")
	DataConflict = define(40042, "DATA_CONFLICT", "The data conflicts with what is stored",
		"数据与已有内容冲突")
	DataDuplicate  = define(40043, "DATA_DUPLICATE", "The data is a duplicate", "数据重复")
	DataNotMatch   = define(40044, "DATA_NOT_MATCH", "The data does not match", "数据不匹配")
	DataIncomplete = define(40045, "DATA_INCOMPLETE", "The data is incomplete", "数据不完整")
	DataCorrupted  = define(40046, "DATA_CORRUPTED", "The data is damaged", "数据已损坏")
	DataOutOfRange = define(40047, "DATA_OUT_OF_RANGE", "The data is out of range", "数据超出范围")
	DataTooLarge   = define(40048, "DATA_TOO_LARGE", "The data is too large", "数据过大")
	DataTooSmall   = define(40049, "DATA_TOO_SMALL", "The data is too small", "数据过小")

	FileUploadError = define(40050, "FILE_UPLOAD_ERROR", "The file could not be uploaded",
		"文件上传失败")
	FileDownloadError = define(40051, "FILE_DOWNLOAD_ERROR", "The file could not be downloaded",
		"文件下载失败")
	FileSizeExceeded   = define(40052, "FILE_SIZE_EXCEEDED", "The file is too large", "文件大小超出限制")
	FileTypeNotAllowed = define(40053, "FILE_TYPE_NOT_ALLOWED",
		"Files of this type are not allowed", "不允许此类型的文件")
	FileNotFound   = define(40054, "FILE_NOT_FOUND", "The file was not found", "文件不存在")
	FileReadError  = define(40055, "FILE_READ_ERROR", "The file could not be read", "文件读取失败")
	FileWriteError = define(40056, "FILE_WRITE_ERROR", "The file could not be written",
		"文件写入失败")
	FileDeleteError = define(40057, "FILE_DELETE_ERROR", "The file could not be deleted",
		"文件删除失败")
	FileFormatError = define(40058, "FILE_FORMAT_ERROR", "The file has the wrong format",
		"文件格式错误")
	FileEmpty = define(40059, "FILE_EMPTY", "The file is missing or empty", "文件缺失或为空")

	BusinessError = define(40060, "BUSINESS_ERROR", "The request could not be completed",
		"业务处理失败")
	TransactionFailed = define(40061, "TRANSACTION_FAILED", "The transaction failed", "事务执行失败")
	StateError        = define(40062, "STATE_ERROR", "The state is wrong", "状态错误")
	FlowError         = define(40063, "FLOW_ERROR", "The steps are out of order", "流程错误")
	RuleViolation     = define(40064, "RULE_VIOLATION", "A rule forbids this", "违反业务规则")
	QuotaExceeded     = define(40065, "QUOTA_EXCEEDED", "The quota is used up", "配额已用尽")
	LimitExceeded     = define(40066, "LIMIT_EXCEEDED", "The limit has been reached", "已达到上限")
	BalanceInsuff     = define(40067, "BALANCE_INSUFFICIENT", "The balance is too low", "余额不足")
	StockInsuff       = define(40068, "STOCK_INSUFFICIENT", "There is not enough in stock", "库存不足")
	ConditionNotMet   = define(40069, "CONDITION_NOT_MET", "A condition is not met", "条件未满足")

	// 401: not authenticated

	Unauthorized = define(40100, "UNAUTHORIZED", "The request is not authenticated",
		"请求未通过身份认证")
	LoginFailed      = define(40101, "LOGIN_FAILED", "Signing in failed", "登录失败")
	TokenInvalid     = define(40102, "TOKEN_INVALID", "The token is not valid", "令牌无效")
	TokenExpired     = define(40103, "TOKEN_EXPIRED", "The token has expired", "令牌已过期")
	TokenMissing     = define(40104, "TOKEN_MISSING", "The token is missing", "缺少令牌")
	SessionExpired   = define(40105, "SESSION_EXPIRED", "The session has expired", "会话已过期")
	SessionInvalid   = define(40106, "SESSION_INVALID", "The session is not valid", "会话无效")
	CredentialError  = define(40107, "CREDENTIAL_ERROR", "The credentials are wrong", "凭证错误")
	SignatureInvalid = define(40108, "SIGNATURE_INVALID", "The signature is not valid", "签名无效")
	SignatureExpired = define(40109, "SIGNATURE_EXPIRED", "The signature has expired", "签名已过期")
	UserNotFound     = define(40110, "USER_NOT_FOUND", "The user does not exist", "用户不存在")
	UserDisabled     = define(40111, "USER_DISABLED", "The user is disabled", "用户已被禁用")
	UserLocked       = define(40112, "USER_LOCKED", "The user is locked", "用户已被锁定")
	UserExpired      = define(40113, "USER_EXPIRED", "The user has expired", "用户已过期")
	PasswordError    = define(40114, "PASSWORD_ERROR", "The password is wrong", "密码错误")
	PasswordExpired  = define(40115, "PASSWORD_EXPIRED", "The password has expired", "密码已过期")
	PasswordWeak     = define(40116, "PASSWORD_WEAK", "The password is too weak", "密码强度不足")
	PasswordSame     = define(40117, "PASSWORD_SAME", "The new password is the same as the old one",
		"新密码不能与旧密码相同")
	AccountNotExist = define(40118, "ACCOUNT_NOT_EXIST", "The account does not exist", "账户不存在")
	AccountFrozen   = define(40119, "ACCOUNT_FROZEN", "The account is frozen", "账户已被冻结")
	CaptchaError    = define(40120, "CAPTCHA_ERROR", "The verification code is wrong", "验证码错误")
	CaptchaExpired  = define(40121, "CAPTCHA_EXPIRED", "The verification code has expired",
		"验证码已过期")
	CaptchaInvalid = define(40122, "CAPTCHA_INVALID", "The verification code is not valid",
		"验证码无效")
	CaptchaMissing = define(40123, "CAPTCHA_MISSING", "The verification code is missing", "缺少验证码")
	CaptchaFreq    = define(40124, "CAPTCHA_FREQUENCY",
		"Verification codes are requested too often", "获取验证码过于频繁")
	SmsCodeError   = define(40125, "SMS_CODE_ERROR", "The text message code is wrong", "短信验证码错误")
	EmailCodeError = define(40126, "EMAIL_CODE_ERROR", "The e-mail code is wrong", "邮箱验证码错误")

	// 403: authenticated, but not permitted

	Forbidden        = define(40300, "FORBIDDEN", "Access is forbidden", "禁止访问")
	PermissionDenied = define(40301, "PERMISSION_DENIED", "You do not have permission", "权限不足")
	AccessLimited    = define(40302, "ACCESS_LIMITED", "Access is restricted", "访问受限")
	RoleNotFound     = define(40303, "ROLE_NOT_FOUND", "The role does not exist", "角色不存在")
	RoleDenied       = define(40304, "ROLE_DENIED", "Your role does not allow this", "当前角色无权操作")
	ResourceDenied   = define(40305, "RESOURCE_DENIED", "You may not use this resource", "无权访问该资源")
	IpBlocked        = define(40306, "IP_BLOCKED", "This address is blocked", "当前地址已被封禁")
	RegionBlocked    = define(40307, "REGION_BLOCKED", "This is not available in your region",
		"当前地区不可用")
	DeviceBlocked   = define(40308, "DEVICE_BLOCKED", "This device is blocked", "当前设备已被封禁")
	ActionForbidden = define(40309, "ACTION_FORBIDDEN", "This action is forbidden", "禁止执行此操作")

	// 404: not found

	NotFound         = define(40400, "NOT_FOUND", "Not found", "未找到")
	PageNotFound     = define(40401, "PAGE_NOT_FOUND", "The page does not exist", "页面不存在")
	ResourceNotFound = define(40402, "RESOURCE_NOT_FOUND", "The resource does not exist", "资源不存在")
	ApiNotFound      = define(40403, "API_NOT_FOUND", "The interface does not exist", "接口不存在")
	RouteNotFound    = define(40404, "ROUTE_NOT_FOUND", "The route does not exist", "路由不存在")
	ServiceNotFound  = define(40405, "SERVICE_NOT_FOUND", "The service does not exist", "服务不存在")
	RecordNotFound   = define(40406, "RECORD_NOT_FOUND", "The record does not exist", "记录不存在")
	ConfigNotFound   = define(40407, "CONFIG_NOT_FOUND", "The setting does not exist", "配置不存在")

	// 405 and 406: unsupported method or representation

	MethodNotAllowed = define(40500, "METHOD_NOT_ALLOWED", "The method is not allowed here",
		"不允许使用此请求方法")
	NotAcceptable = define(40600, "NOT_ACCEPTABLE",
		"The response is not available in an acceptable format", "无法提供可接受的响应格式")
	ContentTypeError  = define(40601, "CONTENT_TYPE_ERROR", "The content type is wrong", "内容类型错误")
	AcceptHeaderError = define(40602, "ACCEPT_HEADER_ERROR",
		"The Accept header cannot be satisfied", "无法满足 Accept 请求头")

	// 408: timeout

	Timeout        = define(40800, "TIMEOUT", "The request took too long", "请求超时")
	ConnectTimeout = define(40801, "CONNECT_TIMEOUT", "Connecting took too long", "连接超时")
	ReadTimeout    = define(40802, "READ_TIMEOUT", "Reading took too long", "读取超时")
	WriteTimeout   = define(40803, "WRITE_TIMEOUT", "Writing took too long", "写入超时")
	ExecuteTimeout = define(40804, "EXECUTE_TIMEOUT", "The execution took too long", "执行超时")
	IdleTimeout    = define(40805, "IDLE_TIMEOUT", "The connection was idle for too long", "连接空闲超时")

	// 409: conflict with the current state

	Conflict = define(40900, "CONFLICT", "The request conflicts with the current state",
		"请求与当前状态冲突")
	VersionConflict  = define(40901, "VERSION_CONFLICT", "The versions conflict", "版本冲突")
	ConcurrencyError = define(40902, "CONCURRENCY_ERROR",
		"Another request interfered; please try again", "并发冲突，请重试")
	LockConflict = define(40903, "LOCK_CONFLICT", "The item is in use; please try again",
		"内容正被占用，请重试")
	ResourceConflict = define(40904, "RESOURCE_CONFLICT", "The resource conflicts with another one",
		"资源冲突")
	OptimisticLock = define(40905, "OPTIMISTIC_LOCK",
		"The item has been changed in the meantime; please reload it", "内容已被修改，请刷新后重试")
	DuplicateEntry   = define(40906, "DUPLICATE_ENTRY", "The entry already exists", "条目已存在")
	UniqueConstraint = define(40907, "UNIQUE_CONSTRAINT",
		"A value that must be unique is already taken", "该值已被占用，不能重复")
	ForeignKeyError = define(40908, "FOREIGN_KEY_ERROR", "The item is linked to another one",
		"存在关联数据，无法完成操作")
	IntegrityError = define(40909, "INTEGRITY_ERROR", "The data breaks a rule of integrity",
		"违反数据完整性约束")

	// 410: permanently removed

	Gone           = define(41000, "GONE", "This is no longer available", "内容已不再提供")
	ResourceGone   = define(41001, "RESOURCE_GONE", "The resource has been removed", "资源已被移除")
	DeprecatedApi  = define(41002, "DEPRECATED_API", "The interface has been withdrawn", "接口已停用")
	VersionExpired = define(41003, "VERSION_EXPIRED", "This version is no longer supported",
		"此版本已不再支持")

	// 413 and 415: content too large or of an unsupported type

	PayloadTooLarge  = define(41300, "PAYLOAD_TOO_LARGE", "The request body is too large", "请求体过大")
	RequestTooLarge  = define(41301, "REQUEST_TOO_LARGE", "The request is too large", "请求过大")
	UploadTooLarge   = define(41302, "UPLOAD_TOO_LARGE", "The upload is too large", "上传内容过大")
	UnsupportedMedia = define(41500, "UNSUPPORTED_MEDIA", "The media type is not supported",
		"不支持的媒体类型")
	UnsupportedType = define(41501, "UNSUPPORTED_TYPE", "The type is not supported", "不支持的类型")

	// 422: well-formed but semantically invalid

	UnprocessableEntity = define(42200, "UNPROCESSABLE_ENTITY", "The content cannot be processed",
		"无法处理请求内容")
	SemanticError = define(42201, "SEMANTIC_ERROR", "The content makes no sense", "语义错误")
	LogicError    = define(42202, "LOGIC_ERROR", "The content contradicts itself", "逻辑错误")

	// 429: rate limit exceeded

	TooManyRequests = define(42900, "TOO_MANY_REQUESTS",
		"Too many requests; please try again later", "请求过多，请稍后重试")
	RateLimited = define(42901, "RATE_LIMITED", "Requests come too fast; please slow down",
		"请求过于频繁，请稍后重试")
	ThrottleExceeded = define(42902, "THROTTLE_EXCEEDED", "The allowed rate is exceeded", "超出流量限制")
	ConcurrentLimit  = define(42903, "CONCURRENT_LIMIT", "Too many requests at the same time",
		"并发请求数超出限制")
	DailyLimitExceed = define(42904, "DAILY_LIMIT_EXCEEDED", "The daily limit has been reached",
		"已达到每日上限")

	// 500: internal error

	ServerInternalError = define(50000, "SERVER_INTERNAL_ERROR", "Something went wrong on our side",
		"服务器内部错误")
	DatabaseError = define(50001, "DATABASE_ERROR", "The database reported a failure",
		"数据库错误")
	CacheError   = define(50002, "CACHE_ERROR", "The cache reported a failure", "缓存错误")
	FileError    = define(50003, "FILE_ERROR", "A file could not be handled", "文件处理错误")
	StorageError = define(50004, "STORAGE_ERROR", "The storage reported a failure", "存储错误")
	RemoteError  = define(50005, "REMOTE_ERROR", "A remote call failed", "远程调用失败")
	ConfigError  = define(50006, "CONFIG_ERROR", "The service is not set up correctly",
		"服务配置错误")
	NetworkError   = define(50007, "NETWORK_ERROR", "The network failed", "网络错误")
	EncryptError   = define(50008, "ENCRYPT_ERROR", "Encrypting failed", "加密失败")
	DecryptError   = define(50009, "DECRYPT_ERROR", "Decrypting failed", "解密失败")
	SerializeError = define(50010, "SERIALIZE_ERROR", "The data could not be encoded",
		"数据序列化失败")
	DeserializeErr = define(50011, "DESERIALIZE_ERROR", "The data could not be decoded",
		"数据反序列化失败")
	JsonError       = define(50012, "JSON_ERROR", "JSON could not be handled", "JSON 处理失败")
	XmlError        = define(50013, "XML_ERROR", "XML could not be handled", "XML 处理失败")
	IoError         = define(50014, "IO_ERROR", "Input or output failed", "输入输出错误")
	MemoryError     = define(50015, "MEMORY_ERROR", "The service ran out of memory", "内存不足")
	ThreadError     = define(50016, "THREAD_ERROR", "A background worker failed", "后台任务执行错误")
	PoolExhausted   = define(50017, "POOL_EXHAUSTED", "All connections are in use", "连接池已耗尽")
	QueueFull       = define(50018, "QUEUE_FULL", "The queue is full", "队列已满")
	ThirdPartyError = define(50020, "THIRD_PARTY_ERROR", "An external service failed",
		"第三方服务错误")
	ApiCallFailed = define(50021, "API_CALL_FAILED", "Calling another interface failed",
		"接口调用失败")
	CallbackError = define(50022, "CALLBACK_ERROR", "The callback failed", "回调失败")
	WebhookError  = define(50023, "WEBHOOK_ERROR", "The webhook failed", "Webhook 调用失败")
	SmsError      = define(50024, "SMS_ERROR", "The text message could not be sent", "短信发送失败")
	EmailError    = define(50025, "EMAIL_ERROR", "The e-mail could not be sent", "邮件发送失败")
	PaymentError  = define(50026, "PAYMENT_ERROR", "The payment failed", "支付失败")
	OssError      = define(50027, "OSS_ERROR", "The object storage failed", "对象存储错误")
	CdnError      = define(50028, "CDN_ERROR", "The content network failed", "内容分发网络错误")
	PushError     = define(50029, "PUSH_ERROR", "The notification could not be delivered",
		"推送失败")
	UnknownError = define(50099, "UNKNOWN_ERROR", "An unknown error occurred", "未知错误")

	// 502, 503 and 504: dependency failed, service unavailable

	GatewayError     = define(50200, "GATEWAY_ERROR", "The gateway received an invalid response", "网关错误")
	UpstreamError    = define(50201, "UPSTREAM_ERROR", "An upstream service failed", "上游服务错误")
	ProxyError       = define(50202, "PROXY_ERROR", "The proxy failed", "代理错误")
	LoadBalanceError = define(50203, "LOAD_BALANCE_ERROR", "No server could handle the request",
		"负载均衡错误")
	ServiceUnavailable = define(50300, "SERVICE_UNAVAILABLE",
		"The service is not available at the moment", "服务暂时不可用")
	SystemMaintenance = define(50301, "SYSTEM_MAINTENANCE", "The system is under maintenance",
		"系统维护中")
	ResourceExhausted = define(50302, "RESOURCE_EXHAUSTED", "The service has run out of resources",
		"服务资源已耗尽")
	ServiceOverload = define(50303, "SERVICE_OVERLOAD", "The service is overloaded", "服务过载")
	CircuitBreaker  = define(50304, "CIRCUIT_BREAKER",
		"The service is protecting itself; please try again later", "服务已熔断，请稍后重试")
	ServiceDegraded = define(50305, "SERVICE_DEGRADED",
		"The service is running in a reduced mode", "服务已降级")
	GatewayTimeout = define(50400, "GATEWAY_TIMEOUT",
		"The request could not be completed in time", "请求未能在规定时间内完成")
	UpstreamTimeout = define(50401, "UPSTREAM_TIMEOUT", "An upstream service took too long",
		"上游服务超时")
)
