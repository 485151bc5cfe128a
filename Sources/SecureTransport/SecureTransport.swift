// SecureTransport
