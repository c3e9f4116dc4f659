import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { handlerPort } from '../../../../../src/kubelet/probes/plan/handler-port.ts';
import {
  httpRequest,
  redirection,
  requestPath,
  urlOf,
} from '../../../../../src/kubelet/probes/plan/http-request.ts';

const container = {
  ports: [{ name: 'web', containerPort: 8080, protocol: 'TCP' as const }],
};

describe('the port of a handler', () => {
  for (const [wanted, port] of [
    [80, 80],
    ['web', 8080],
    ['81', 81],
    ['+82', 82],
    [1, 1],
    [65535, 65535],
  ] as const) {
    it(`${JSON.stringify(wanted)} is ${port}`, () => assert.equal(handlerPort(wanted, container), port));
  }

  for (const [wanted, message] of [
    [0, 'invalid port number: 0'],
    [65536, 'invalid port number: 65536'],
    ['-1', 'invalid port number: -1'],
    ['other', 'strconv.Atoi: parsing "other": invalid syntax'],
    ['', 'strconv.Atoi: parsing "": invalid syntax'],
  ] as const) {
    it(`${JSON.stringify(wanted)} is invalid`, () =>
      assert.throws(() => handlerPort(wanted, container), { message }));
  }
});

describe('the requested path', () => {
  for (const [text, path] of [
    ['', '/'],
    ['/', '/'],
    ['healthz', '/healthz'],
    ['/a/../b', '/a/../b'],
    ['/a b?c d=é', '/a%20b?c%20d=%C3%A9'],
    ['?ready', '/?ready'],
    ['/x#fragment', '/x'],
    ['http://elsewhere:1/x?y', '/x?y'],
    ['//elsewhere/x', '/x'],
    ['/100%', '/100%25'],
    ['/%2f%2F', '/%2f%2F'],
    ['/%2f%', '/%252f%25'],
    ['/line\r\nX: y', '/line%0D%0AX:%20y'],
    ['/lone\ud800', '/lone%EF%BF%BD'],
  ] as const) {
    it(`${JSON.stringify(text)} becomes ${path}`, () => assert.equal(requestPath(text), path));
  }
});

describe('the request of httpGet', () => {
  const of = (action: object, port: number | string = 80) =>
    httpRequest({ port, ...action }, container, '10.0.0.1', 'probe');

  it("goes to the address of the pod, with the kubelet's user agent", () => {
    const request = of({ path: '/healthz' }, 'web');
    assert.equal(urlOf(request), 'http://10.0.0.1:8080/healthz');
    assert.deepEqual(request.headers, {
      Host: '10.0.0.1:8080',
      'User-Agent': 'kube-probe/1.32',
      Accept: '*/*',
    });
  });

  it('is sent to a given host, with brackets around an IPv6 address', () => {
    assert.equal(urlOf(of({ host: 'example.org', scheme: 'HTTPS' }, 443)), 'https://example.org:443/');
    const six = of({ host: 'fd00::1' });
    assert.equal(urlOf(six), 'http://[fd00::1]:80/');
    assert.equal(six.host, 'fd00::1');
    assert.equal(of({ host: '[fd00::1]' }).host, 'fd00::1');
  });

  it('has the configured headers, repeated ones too, and a configured Host replaces its own', () => {
    const httpHeaders = [
      { name: 'host', value: 'shop.example' },
      { name: 'X-One', value: '1' },
      { name: 'x-one', value: '2' },
      { name: 'user-agent', value: 'me' },
      { name: 'accept', value: 'text/plain' },
      { name: 'user-agent', value: 'you' },
      { name: 'X-Two', value: '1' },
      { name: 'X-Two', value: '2' },
    ];
    assert.deepEqual(of({ httpHeaders }).headers, {
      Host: 'shop.example',
      'X-One': ['1', '2'],
      'user-agent': 'me',
      accept: 'text/plain',
      'X-Two': ['1', '2'],
    });
  });

  it('has no Accept and no User-Agent if these are given empty, and no header that would change the request', () => {
    const httpHeaders = ['Accept', 'User-Agent', 'Host'].map((name) => ({ name, value: '' }));
    const framing = ['Content-Length', 'Transfer-Encoding', 'Connection', 'Trailer'].map((name) => ({
      name,
      value: '5',
    }));
    assert.deepEqual(of({ httpHeaders: [...httpHeaders, ...framing] }).headers, { Host: '10.0.0.1:80' });
  });

  it("has the kubelet's user agent of hooks if it is sent for a hook", () => {
    const { headers } = httpRequest({ port: 80 }, container, '10.0.0.1', 'lifecycle');
    assert.equal(headers['User-Agent'], 'kube-lifecycle/1.32');
  });
});

describe('a redirection', () => {
  const from = httpRequest(
    { port: 80, path: '/a/b', httpHeaders: [{ name: 'Host', value: 'shop.example' }] },
    container,
    '10.0.0.1',
    'probe',
  );
  const to = (status: number, location: string | undefined) => {
    const next = redirection(from, status, location);
    return typeof next === 'object' ? urlOf(next) : next;
  };

  it('is followed within the host, also to another port and to https', () => {
    for (const status of [301, 302, 303, 307, 308]) assert.equal(to(status, '/c'), 'http://10.0.0.1:80/c');
    assert.equal(to(302, 'c?d'), 'http://10.0.0.1:80/a/c?d');
    assert.equal(to(302, 'http://10.0.0.1:81/c'), 'http://10.0.0.1:81/c');
    assert.equal(to(302, 'https://10.0.0.1/c'), 'https://10.0.0.1:443/c');
  });

  it('is not followed to another host', () => {
    assert.equal(to(302, 'http://10.0.0.2/'), 'elsewhere');
    assert.equal(to(302, '//example.org/'), 'elsewhere');
  });

  it('is not followed without a location, or with another status', () => {
    assert.equal(to(302, undefined), undefined);
    assert.equal(to(304, '/c'), undefined);
    assert.equal(to(200, '/c'), undefined);
  });

  it('keeps the Host header if its location is only a path', () => {
    const host = (location: string) => {
      const next = redirection(from, 302, location);
      return typeof next === 'object' ? next.headers.Host : next;
    };
    assert.equal(host('/c'), 'shop.example');
    assert.equal(host('http://10.0.0.1:81/c'), '10.0.0.1:81');
  });

  it('to an invalid HTTP address is an error', () => {
    assert.throws(() => to(302, 'http://['), { message: 'failed to parse Location header "http://["' });
    assert.throws(() => to(302, 'ftp://10.0.0.1/'), { message: 'unsupported protocol scheme "ftp"' });
  });
});
