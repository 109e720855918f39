"""Which rows does a big ledger hold, found without reading it again?"""
