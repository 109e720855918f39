"""Who did what in this workspace: the own ledger of acts?"""
