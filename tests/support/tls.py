# SPDX-License-Identifier: Apache-2.0
"""A certificate authority for tests, made by the openssl program when it is needed."""

import datetime
import shutil
import subprocess
import unittest
from pathlib import Path
from typing import Tuple

NAMES = "DNS:localhost,DNS:cuda.example.test,IP:127.0.0.1"
CONFIG = """
[ca]
default_ca = authority
[authority]
database = {directory}/index
serial = {directory}/serial
new_certs_dir = {directory}
default_md = sha256
policy = any
unique_subject = no
[any]
commonName = supplied
[request]
distinguished_name = nothing
[nothing]
[root]
basicConstraints = critical, CA:TRUE
"""


class Authority:
    """`file` is what clients must trust; `certificate` gives the files of a certificate and of its key."""

    def __init__(self, directory: Path, name: str = "test authority"):
        if not shutil.which("openssl"):
            raise unittest.SkipTest("the openssl program is not installed")
        self.directory = Path(directory)
        self.directory.mkdir(parents=True)
        self.config, self.file, self.key = (self.directory / part for part in ("config", "ca.pem", "ca.key"))
        self.config.write_text(CONFIG.format(directory=self.directory))
        (self.directory / "index").write_text("")
        (self.directory / "serial").write_text("01\n")
        self.run("req", "-x509", *self.new_key(self.key), "-subj", f"/CN={name}", "-days", "2", "-extensions", "root",
                 "-out", self.file)

    def run(self, *arguments) -> None:
        done = subprocess.run(["openssl", arguments[0], "-config", self.config, *arguments[1:]], capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"openssl {arguments[0]}: {done.stderr}")

    def new_key(self, file: Path) -> Tuple:
        return "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", file

    def certificate(self, kind: str, names: str = NAMES, ends: float = 1) -> Tuple[str, str]:
        """`ends`: days from now."""
        request, certificate, key = (self.directory / f"{kind}.{part}" for part in ("req", "pem", "key"))
        extensions = self.directory / f"{kind}.ext"
        extensions.write_text(f"subjectAltName = {names}\n")
        end = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(days=ends)
        start = end - datetime.timedelta(days=3)
        self.run("req", "-new", *self.new_key(key), "-subj", f"/CN={kind}", "-out", request)
        self.run("ca", "-batch", "-notext", "-cert", self.file, "-keyfile", self.key, "-in", request, "-out", certificate,
                 "-startdate", f"{start:%y%m%d%H%M%SZ}", "-enddate", f"{end:%y%m%d%H%M%SZ}", "-extfile", extensions)
        return str(certificate), str(key)

    def add_to(self, directory: Path) -> None:
        """To a directory of authorities, as OpenSSL reads one."""
        done = subprocess.run(["openssl", "x509", "-hash", "-noout", "-in", self.file], capture_output=True, text=True, check=True)
        shutil.copy(self.file, directory / f"{done.stdout.strip()}.0")
