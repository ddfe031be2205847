#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`cudaenv install` over TLS, behind a proxy, and where a server redirects: whom it trusts, and whom it tells what."""

import shutil
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.mirror import PLATFORM, MirrorTest
from support.proxy import Proxy
from support.tls import Authority

HOST = "cuda.example.test"  # exists behind the proxy only
SECRET = "pass%40word"


class NetworkTest(MirrorTest):
    RELEASES = ("12.8.1",)

    def setUp(self):
        super().setUp()
        self.path = self.manifest("12.8.1")["cuda_nvcc"][PLATFORM]["relative_path"]

    def fresh(self, **named):
        """A case of its own, in which nothing is installed yet."""
        shutil.rmtree(self.toolkit("12.8.1"), ignore_errors=True)
        return self.subTest(**named)

    def asked(self, server):
        """The requests for one archive."""
        return [answer for answer in server.answers if answer.path == f"/{self.path}"]


class TlsTest(NetworkTest):
    def setUp(self):
        super().setUp()
        self.authority = Authority(self.box.top / "authority")
        self.environment = {"SSL_CERT_FILE": str(self.authority.file)}

    def serve_tls(self, *faults, certificate=None):
        return self.serve(*faults, tls=certificate or self.authority.certificate("good"))


class Certificates(TlsTest):
    def test_DL_09_an_authority_named_by_either_variable(self):
        self.serve_tls()
        for name in ("SSL_CERT_FILE", "CURL_CA_BUNDLE"):
            with self.fresh(name=name):
                self.install("12.8.1", env={name: str(self.authority.file)})

    def test_DL_09_a_directory_of_authorities(self):
        self.serve_tls()
        directory = self.box.top / "authorities"
        directory.mkdir()
        self.authority.add_to(directory)
        self.install("12.8.1", env={"SSL_CERT_DIR": str(directory)})

    def test_DL_09_a_certificate_of_nobody_known(self):
        server = self.serve_tls()
        with self.unchanged():
            self.fails(6, "install", "12.8.1", says=(f"cannot download {server.url}/", "SSL_CERT_FILE", "CURL_CA_BUNDLE",
                                                     "try: export SSL_CERT_FILE=FILE\n"))
        self.assertEqual(server.requests, [])

    def test_DL_09_a_certificate_of_another_authority(self):
        other = Authority(self.box.top / "other", "another authority")
        self.serve_tls(certificate=other.certificate("good"))
        with self.unchanged():
            self.fails(6, "install", "12.8.1", env=self.environment, says=("cannot download", "SSL_CERT_FILE"))

    def test_DL_09_certificates_that_are_no_good(self):
        """That another authority be named would not help: so nobody is told to."""
        for name, options in (("expired", {"ends": -1}), ("elsewhere", {"names": "DNS:elsewhere.test"})):
            with self.subTest(name), self.unchanged():
                server = self.serve_tls(certificate=self.authority.certificate(name, **options))
                result = self.fails(6, "install", "12.8.1", env=self.environment, says=f"cannot download {server.url}/")
                self.assertEqual(server.requests, [])
                self.assertNotIn("SSL_CERT_FILE", result.stderr)

    def test_DL_09_a_file_of_authorities_that_is_not_there(self):
        self.serve_tls()
        missing = str(self.box.top / "missing.pem")
        with self.unchanged():
            self.fails(6, "install", "12.8.1", env={"SSL_CERT_FILE": missing}, says=(missing, "SSL_CERT_FILE"))

    def test_DL_09_no_variable_turns_the_check_off(self):
        self.serve_tls()
        with self.unchanged():
            self.fails(6, "install", "12.8.1", says="SSL_CERT_FILE", env={
                "GIT_SSL_NO_VERIFY": "1", "PYTHONHTTPSVERIFY": "0", "NODE_TLS_REJECT_UNAUTHORIZED": "0"})
            self.box.write("home/.curlrc", "insecure\n")
            self.fails(6, "install", "12.8.1", says="SSL_CERT_FILE")
            (self.box.home / ".curlrc").unlink()


class Redirects(TlsTest):
    def test_never_from_https_to_http(self):
        plain = self.serve()
        for allowed in ("false", "true"):  # not even where plain http is allowed
            self.done("config", "set", "network.allow_http", allowed)
            server = self.serve_tls(f"{self.path}=redirect:{plain.url}%s")
            with self.subTest(allowed):
                self.fails(6, "install", "12.8.1", env=self.environment, says=f"redirects from https to {plain.url}, which is refused")
                self.assertEqual(plain.requests, [])
                self.assertEqual(self.names(), [])

    def test_from_http_to_https(self):
        secured = self.serve_tls()
        self.serve(f"{self.path}=redirect:{secured.url}%s")
        self.install("12.8.1", env=self.environment)
        self.assertEqual(len(self.asked(secured)), 1)

    def test_the_certificate_counts_after_a_redirect_too(self):
        secured = self.serve_tls()
        self.serve(f"{self.path}=redirect:{secured.url}%s")
        self.fails(6, "install", "12.8.1", says="SSL_CERT_FILE")
        self.assertEqual(self.names(), [])

    def test_over_several_steps(self):
        server = self.serve()
        for _ in range(8):
            server = self.serve(f"{self.path}=redirect:{server.url}%s")
        self.install("12.8.1")

    def test_without_an_end(self):
        server = self.serve(f"{self.path}=redirect:/{self.path}")
        self.fails(6, "install", "12.8.1", says=(f"cannot download {server.url}/{self.path}", "redirects more than 10 times"))
        self.assertEqual(len(self.asked(server)), 11)

    def test_to_what_is_no_web_address(self):
        for target in ("file:///etc/passwd", "ftp://127.0.0.1/x", "gopher://127.0.0.1/x", "javascript:1", "http://"):
            self.serve(f"{self.path}=redirect:{target}")
            with self.subTest(target):
                self.fails(6, "install", "12.8.1", says="cuda_nvcc")
                self.assertEqual(self.names(), [])

    def test_credentials_in_a_redirect_are_not_printed(self):
        other = self.serve("*=404")
        address = other.url.replace("http://", f"http://user:{SECRET}@")
        self.serve(f"{self.path}=redirect:{address}%s")
        result = self.cudaenv("install", "12.8.1")
        self.assertEqual(result.returncode, 3, result.stderr)
        self.assertNotIn(SECRET, result.stdout + result.stderr)
        self.assertNotIn("pass@word", result.stdout + result.stderr)


class Credentials(NetworkTest):
    AUTHORIZED = "auth:user:secret"

    def netrc(self, *hosts):
        self.box.write("home/.netrc", "".join(f"machine {host} login user password secret\n" for host in hosts), 0o600)

    def redirect(self, to="127.0.0.1"):
        """A server that wants credentials and redirects one archive; that to which it does."""
        other = self.serve()
        target = other.url.replace("127.0.0.1", to)
        self.serve(f"{self.path}=redirect:{target}%s", f"*={self.AUTHORIZED}")
        return other

    def given_to(self, server):
        return {answer.headers.get("authorization") for answer in server.answers}

    def test_of_netrc(self):
        self.serve(f"*={self.AUTHORIZED}")
        self.fails(6, "install", "12.8.1", says=("status 401", "~/.netrc"))
        self.netrc("127.0.0.1")
        self.install("12.8.1")

    def test_of_netrc_do_not_go_to_another_host(self):
        self.netrc("127.0.0.1")
        other = self.redirect(to="localhost")
        self.install("12.8.1")
        self.assertEqual(self.given_to(other), {None})

    def test_of_netrc_for_the_other_host_go_to_that_one(self):
        self.netrc("127.0.0.1", "localhost")
        other = self.redirect(to="localhost")
        other.faults.rules.append(f"* {self.AUTHORIZED}")
        self.install("12.8.1")
        self.assertEqual(len(self.asked(other)), 1)

    def test_of_the_address_do_not_go_to_another_host_or_port(self):
        for to in ("localhost", "127.0.0.1"):
            with self.fresh(to=to):
                other = self.redirect(to)
                address = self.box.environment["CUDAENV_MIRROR"].replace("http://", "http://user:secret@")
                result = self.install("12.8.1", "--mirror", address)
                self.assertEqual(self.given_to(other), {None})
                self.assertNotIn("secret", result.stderr)

    def test_of_the_address_do_not_go_to_the_next_mirror(self):
        first = self.serve(f"{self.path}=404")
        address = first.url.replace("http://", "http://user:secret@")
        second = self.serve()
        self.install("12.8.1", env={"CUDAENV_MIRROR": f"{address} {second.url}"})
        self.assertEqual(len(self.asked(second)), 1)
        self.assertEqual(self.given_to(second), {None})
        self.assertEqual(len(self.given_to(first) - {None}), 1)


class Proxies(TlsTest):
    def proxy(self, server=None, **options):
        proxy = Proxy(hosts={HOST: server.server_port} if server else {}, **options)
        proxy.__enter__()
        self.addCleanup(proxy.__exit__)
        return proxy

    def secured(self):
        """A server that is reached by name, through a proxy only; the proxy."""
        server = self.serve_tls()
        self.box.environment["CUDAENV_MIRROR"] = f"https://{HOST}"
        return server, self.proxy(server)

    def test_DL_09_http(self):
        server, proxy = self.serve(), self.proxy()
        self.install("12.8.1", env={"http_proxy": f"http://{proxy.address}"})
        self.assertIn(f"GET {server.url}/{self.path}", proxy.requests)
        self.assertEqual(len(proxy.requests), len(server.requests))

    def test_DL_09_https(self):
        server, proxy = self.secured()
        for name in ("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
            for value in (f"http://{proxy.address}", proxy.address):
                with self.fresh(name=name, value=value):
                    proxy.requests.clear()
                    self.install("12.8.1", env={name: value, **self.environment})
                    self.assertEqual(set(proxy.requests), {f"CONNECT {HOST}:443"})

    def test_DL_09_the_upper_case_name_of_the_one_for_http_is_not_used(self):
        """A web server sets it from a header of whoever asks."""
        proxy = self.proxy()
        self.serve()
        self.install("12.8.1", env={"HTTP_PROXY": f"http://{proxy.address}"})
        self.assertEqual(proxy.requests, [])

    def test_DL_09_hosts_without_a_proxy(self):
        server, proxy = self.serve(), self.proxy()
        port = server.server_port
        for name in ("no_proxy", "NO_PROXY"):
            for value in ("127.0.0.1", "*", "example.test,127.0.0.1", "example.test, 127.0.0.1", f"127.0.0.1:{port}"):
                with self.fresh(name=name, value=value):
                    proxy.requests.clear()
                    self.install("12.8.1", env={"http_proxy": f"http://{proxy.address}", name: value})
                    self.assertEqual(proxy.requests, [])

    def test_DL_09_hosts_with_a_proxy_all_the_same(self):
        server, proxy = self.serve(), self.proxy()
        for value in ("", "127.0.0.2", "27.0.0.1", "example.test", f"127.0.0.1:{server.server_port + 1}"):
            with self.fresh(value=value):
                proxy.requests.clear()
                self.install("12.8.1", env={"http_proxy": f"http://{proxy.address}", "no_proxy": value})
                self.assertIn(f"GET {server.url}/{self.path}", proxy.requests)

    def test_DL_09_suffixes_of_hosts_without_a_proxy(self):
        """The host does not exist, so without the proxy nothing is reached."""
        server, proxy = self.secured()
        variables = {"https_proxy": f"http://{proxy.address}", **self.environment}
        for value in ("example.test", ".example.test", HOST, f"x.test,{HOST}"):
            with self.subTest(value), self.unchanged():
                self.fails(6, "install", "12.8.1", env={**variables, "no_proxy": value}, says=f"https://{HOST}/")
                self.assertEqual(proxy.requests, [])
        for value in ("ample.test", "cuda", "cuda.example.test.org"):
            with self.fresh(value=value):
                self.install("12.8.1", env={**variables, "no_proxy": value})

    def test_DL_09_a_proxy_that_wants_credentials(self):
        server = self.serve_tls()
        plain = self.serve()
        proxy = self.proxy(server, credentials="user:pass@word")
        address = f"http://user:{SECRET}@{proxy.address}"
        for mirror, name in ((f"https://{HOST}", "https_proxy"), (plain.url, "http_proxy")):
            with self.fresh(mirror=mirror):
                result = self.install("12.8.1", "--mirror", mirror, env={name: address, **self.environment})
                self.assertNotIn("word", result.stderr)

    def test_DL_09_the_credentials_of_a_proxy_are_not_printed(self):
        server = self.serve_tls()
        plain = self.serve()
        strict = self.proxy(server, credentials="user:other")
        places = {"refuses": strict.address, "is down": "127.0.0.1:9", "is nowhere": "proxy.example.test:8080",
                  "is no address": "127.0.0.1:99999"}
        for what, place in places.items():
            for mirror, name in ((f"https://{HOST}", "https_proxy"), (plain.url, "http_proxy")):
                with self.subTest(what, mirror=mirror), self.unchanged():
                    result = self.fails(6, "install", "12.8.1", "--mirror", mirror, says="cannot download", env={
                        name: f"http://user:{SECRET}@{place}", **self.environment})
                    self.assertNotIn("word", result.stderr)

    def test_DL_09_a_proxy_that_refuses_is_told_from_the_server(self):
        server = self.serve_tls()
        proxy = self.proxy(server, credentials="user:secret")
        self.fails(6, "install", "12.8.1", "--mirror", f"https://{HOST}", env={
            "https_proxy": f"http://{proxy.address}", **self.environment}, says=("the proxy answered with status 407", "env | grep"))

    def test_DL_09_the_headers_for_a_proxy_do_not_reach_the_server(self):
        server = self.serve_tls()
        proxy = self.proxy(server, credentials="user:secret")
        self.install("12.8.1", "--mirror", f"https://{HOST}", env={
            "https_proxy": f"http://user:secret@{proxy.address}", **self.environment})
        self.assertEqual([answer for answer in server.answers if "proxy-authorization" in answer.headers], [])

    def test_DL_09_a_certificate_behind_a_proxy_is_checked_too(self):
        server, proxy = self.secured()
        with self.unchanged():
            self.fails(6, "install", "12.8.1", env={"https_proxy": f"http://{proxy.address}"}, says="SSL_CERT_FILE")
        self.assertEqual(server.requests, [])


if __name__ == "__main__":
    unittest.main()
