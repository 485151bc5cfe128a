/// Certificates and keys that were made for these tests and are used nowhere else.
public struct LoopbackCertificate: Sendable {
    /// In PEM.
    public let certificate: String
    public let key: String

    /// For 127.0.0.1, signed by itself, valid from 2020 to 2120.
    public static let one = LoopbackCertificate(
        certificate: """
            -----BEGIN CERTIFICATE-----
            MIIBTjCB9qADAgECAgEBMAoGCCqGSM49BAMCMA4xDDAKBgNVBAMMA29uZTAgFw0y
            MDAxMDEwMDAwMDBaGA8yMTIwMDEwMTAwMDAwMFowDjEMMAoGA1UEAwwDb25lMFkw
            EwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEobP09E0WZ5Tf45p0UQBoZL02qXeX4qWV
            xfvl/asateCE+wUz57gahATvxWB7TMjort06Jr+wvZJZ6G6MKf8foaNDMEEwDwYD
            VR0TAQH/BAUwAwEB/zAPBgNVHREECDAGhwR/AAABMB0GA1UdDgQWBBR4Ak2bb6Zm
            kdGeap+sIUFY06RFKzAKBggqhkjOPQQDAgNHADBEAiB+LPalr+u1uAlM0HM+iO/2
            o+5f3maaxcqtqYnvAh0shAIgfchT/53r1GRgVhCTlJR520swzG4Ht4U/wP4GqTd3
            guw=
            -----END CERTIFICATE-----

            """,
        key: """
            -----BEGIN PRIVATE KEY-----
            MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgTE5iVsMfwnmtE8ZQ
            5udmVCqdi89YyJ0NC/Kn89tn5DuhRANCAAShs/T0TRZnlN/jmnRRAGhkvTapd5fi
            pZXF++X9qxq14IT7BTPnuBqEBO/FYHtMyOiu3Tomv7C9klnobowp/x+h
            -----END PRIVATE KEY-----

            """)

    /// Another one like it.
    public static let other = LoopbackCertificate(
        certificate: """
            -----BEGIN CERTIFICATE-----
            MIIBUjCB+qADAgECAgECMAoGCCqGSM49BAMCMBAxDjAMBgNVBAMMBW90aGVyMCAX
            DTIwMDEwMTAwMDAwMFoYDzIxMjAwMTAxMDAwMDAwWjAQMQ4wDAYDVQQDDAVvdGhl
            cjBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABD86Eigt+B+nbhStLq7fyiur5Cdm
            H9KjUzvIP+jkWhw/DVP6DMrvj85g4aQ5ltNtWxIAV6eTKgm5jwVHzaeAFuujQzBB
            MA8GA1UdEwEB/wQFMAMBAf8wDwYDVR0RBAgwBocEfwAAATAdBgNVHQ4EFgQUECme
            8WhECBRJI/+yAQbf0X/cqBIwCgYIKoZIzj0EAwIDRwAwRAIgF7idDMWhGGHI/wZ4
            hXYkqp4Hmmx8C2nR5sKJ6NoQ1qYCIANG3YxZ675I8DcAbhawI50W+ekjOyoTzuR0
            tCkP5v5H
            -----END CERTIFICATE-----

            """,
        key: """
            -----BEGIN PRIVATE KEY-----
            MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQghSnhgNgTsM72L081
            GRFyQYjZxRQ9CKvrXBlHQ9360lyhRANCAAQ/OhIoLfgfp24UrS6u38orq+QnZh/S
            o1M7yD/o5FocPw1T+gzK74/OYOGkOZbTbVsSAFenkyoJuY8FR82ngBbr
            -----END PRIVATE KEY-----

            """)
}
