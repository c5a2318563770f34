// Loads the page again when the server says that the content has changed.
new EventSource("/api/reload").onmessage = () => location.reload();
