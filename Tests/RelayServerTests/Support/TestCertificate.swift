/// Certificates and keys that were made for these tests and are used nowhere else.
enum TestCertificate {
    /// For localhost and 127.0.0.1, signed by itself, valid from 2020 to 2120.
    static let certificate = """
        -----BEGIN CERTIFICATE-----
        MIIBNTCB3aADAgECAgEIMAoGCCqGSM49BAMCMBQxEjAQBgNVBAMMCWxvY2FsaG9z
        dDAgFw0yMDAxMDEwMDAwMDBaGA8yMTIwMDEwMTAwMDAwMFowFDESMBAGA1UEAwwJ
        bG9jYWxob3N0MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEZgR4A+ui4G4OX0L4
        vefz5oI62rj0JfqFhMvfSPVNLgoiw8d9wKsbzlfe7Zf8yVKQwBnQ1tRGMiU/XP+D
        v2/WAqMeMBwwGgYDVR0RBBMwEYIJbG9jYWxob3N0hwR/AAABMAoGCCqGSM49BAMC
        A0cAMEQCIEP6rIyh+zn4mWb39AG6gu2zT9hOQqnNdsRvG0CNA669AiAUNC+wFT7S
        uRjAjbGx7L6jgtWgMBH+uhdnUPLUZtXcCg==
        -----END CERTIFICATE-----

        """

    /// The same, of which the second day of 2020 was the last.
    static let expiredCertificate = """
        -----BEGIN CERTIFICATE-----
        MIIBHzCBxaADAgECAgEHMAoGCCqGSM49BAMCMBkxFzAVBgNVBAMMDmNvbmZyZWxh
        eS50ZXN0MB4XDTIwMDEwMTAwMDAwMFoXDTIwMDEwMjAwMDAwMFowGTEXMBUGA1UE
        AwwOY29uZnJlbGF5LnRlc3QwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAARmBHgD
        66Lgbg5fQvi95/PmgjrauPQl+oWEy99I9U0uCiLDx33AqxvOV97tl/zJUpDAGdDW
        1EYyJT9c/4O/b9YCMAoGCCqGSM49BAMCA0kAMEYCIQC1+2/WRWYeRNdspZattGQ/
        0FU9UJlb/9RmQLHIKuIINgIhAO6cVINNx6ies0nwqiuP1gw+dG6xYhwDc1nt7tU7
        WgVw
        -----END CERTIFICATE-----

        """

    /// The key of both.
    static let key = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg4WND0XGMIeCiuIrN
        SkbxI5wGwPlr2HNz69Ecma3txN+hRANCAARmBHgD66Lgbg5fQvi95/PmgjrauPQl
        +oWEy99I9U0uCiLDx33AqxvOV97tl/zJUpDAGdDW1EYyJT9c/4O/b9YC
        -----END PRIVATE KEY-----

        """

    /// The key, encrypted.
    static let encryptedKey = """
        -----BEGIN ENCRYPTED PRIVATE KEY-----
        MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAiqUecBGzIsMwICCAAw
        DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEAVW1m1wrmZBRiVdZ11vhxQEgZA0
        OU9N/2S3OC4aL88eN0u8Gw8VE4hHMc3q2j42YOXzShFbuxLgI06h8nNVATb8sedD
        k5a+qBQlWBupwVLWcGLY2wTp3YmFu2RnFqe5ENmkivtT2MhwehHAjAZ/cpChY1ev
        pJboGVarLgBkXbU6iZn/SDE0H4g8Bv0Lr6lXWXaDxGOIbSAV0Pb3FmPsq/W4n+0=
        -----END ENCRYPTED PRIVATE KEY-----

        """

    /// Another key.
    static let otherKey = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgiOUfpZmuJi5YaGbM
        dOAnzA5J3AqwXlUHUFm6aP8Cpt6hRANCAARu9Lc0S9W3+qYUEi84rK06QLIkFPij
        uU1EGvXEasvMv9guEXYLAnuubIoO4ELw/L32G55a0nUfv64CdkQNMwFL
        -----END PRIVATE KEY-----

        """
}
