// Conference
