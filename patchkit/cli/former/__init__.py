"""Old paths of modules that somebody may import; each works for one release.

`patchkit/__init__.py` adds this folder to the package's path, so `former/doctor.py` is imported as
`patchkit.doctor`.
"""
