import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { requestHeaders, responseHeaders } from '../../../../src/kube-apiserver/forwarding/headers.ts';

const request = (headers: Record<string, string>, more: object = {}) =>
  requestHeaders({
    headers: new Headers(headers),
    path: '/api/v1/nodes/n/proxy/x',
    host: 'apiserver',
    remoteAddress: '192.0.2.1',
    upgrade: false,
    ...more,
  });

describe('headers to a backend', () => {
  it('contain the origin of the request', () => {
    assert.deepEqual(request({ host: 'cluster:6443', accept: 'text/html', cookie: 'a=b' }), {
      accept: 'text/html',
      cookie: 'a=b',
      host: 'cluster:6443',
      'x-forwarded-for': '192.0.2.1',
      'x-forwarded-uri': '/api/v1/nodes/n/proxy/x',
    });
  });

  it('contain neither half of a session of a browser', () => {
    const sent = request({
      cookie: 'a=b; __Host-minik8s-session=sealed',
      'minik8s-session': 'proof',
      minik8s_session: 'proof',
    });
    assert.equal(sent.cookie, 'a=b');
    assert.doesNotMatch(JSON.stringify(sent), /sealed|proof/);
    assert.equal('cookie' in request({ cookie: '__Host-minik8s-session=sealed' }), false);
  });

  it('list this server after earlier proxies', () => {
    assert.equal(
      request({ 'x-forwarded-for': '198.51.100.7' })['x-forwarded-for'],
      '198.51.100.7, 192.0.2.1',
    );
  });

  it('contain a host, and no address, for a caller in this process', () => {
    const headers = request({}, { remoteAddress: undefined });
    assert.equal(headers.host, 'apiserver');
    assert.equal(headers['x-forwarded-for'], undefined);
  });

  it("omit the client's credentials for this server", () => {
    const headers = request({
      authorization: 'Bearer s3cret',
      'proxy-authorization': 'Basic eA==',
      'impersonate-user': 'bob',
      'impersonate-extra-scopes': 'x',
      'x-remote-user': 'bob',
      'x-remote-extra-a': 'b',
      x_remote_user: 'bob',
      'x_remote-group': 'system:masters',
      impersonate_user: 'bob',
      'x-remote-control': 'stays',
    });
    assert.deepEqual(Object.keys(headers).sort(), [
      'host',
      'x-forwarded-for',
      'x-forwarded-uri',
      'x-remote-control',
    ]);
  });

  it('omit connection headers', () => {
    const headers = request({
      connection: 'keep-alive, X-Hop, Upgrade',
      'x-hop': '1',
      'keep-alive': 'timeout=5',
      upgrade: 'h2c',
      te: 'trailers',
      expect: '100-continue',
      'transfer-encoding': 'gzip, chunked',
      'proxy-authenticate': 'Basic',
      'proxy-connection': 'keep-alive',
      trailer: 'x-sum',
    });
    assert.deepEqual(Object.keys(headers).sort(), [
      'host',
      'transfer-encoding',
      'x-forwarded-for',
      'x-forwarded-uri',
    ]);
    assert.equal(headers['transfer-encoding'], 'chunked');
  });

  it('request the protocol that the client requests', () => {
    const headers = request(
      { connection: 'keep-alive, Upgrade', upgrade: 'websocket', 'sec-websocket-key': 'k' },
      { upgrade: true },
    );
    assert.equal(headers.connection, 'Upgrade');
    assert.equal(headers.upgrade, 'websocket');
    assert.equal(headers['sec-websocket-key'], 'k');
  });
});

describe('headers of a backend', () => {
  const page = { prefix: '/P', requestHost: 'cluster', backendHosts: ['10.0.0.1:80'] };
  const response = (raw: readonly string[]) =>
    responseHeaders(raw, page, { 'cache-control': 'no-cache', 'audit-id': '7' });

  it('are forwarded unchanged, each cookie separately', () => {
    const { headers, html } = response([
      'Content-Type',
      'text/css',
      'Set-Cookie',
      'a=1',
      'Set-Cookie',
      'b=2',
      'ETag',
      '"x"',
    ]);
    assert.deepEqual(headers.getSetCookie(), ['a=1', 'b=2']);
    assert.equal(headers.get('etag'), '"x"');
    assert.equal(headers.get('audit-id'), '7');
    assert.equal(html, undefined);
  });

  it('take precedence over those of this server', () => {
    assert.equal(response(['Cache-Control', 'max-age=60']).headers.get('cache-control'), 'max-age=60');
    assert.equal(response([]).headers.get('cache-control'), 'no-cache');
  });

  it('omit connection headers and CORS headers', () => {
    const { headers } = response([
      ...['Connection', 'close, X-Hop', 'X-Hop', '1', 'Transfer-Encoding', 'chunked', 'Keep-Alive', 'x'],
      ...['Upgrade', 'h2c', 'Trailer', 'x-sum', 'Proxy-Connection', 'close', 'Proxy-Authenticate', 'Basic'],
      ...[
        'Access-Control-Allow-Origin',
        '*',
        'Access-Control-Allow-Credentials',
        'true',
        'Access-Control-Max-Age',
        '5',
      ],
    ]);
    assert.deepEqual([...headers.keys()], ['access-control-max-age', 'audit-id', 'cache-control']);
  });

  it('lead back through the proxy', () => {
    const { headers, html } = response([
      'Location',
      'http://10.0.0.1:80/login',
      'Content-Type',
      'text/html',
      'Content-Length',
      '5',
    ]);
    assert.equal(headers.get('location'), '/P/login');
    assert.equal(headers.get('content-length'), '5');
    assert.equal(html, undefined, 'the body of a redirection stays as it is');
  });

  it('are unchanged for a part of a document', () => {
    const raw = ['Content-Type', 'text/html', 'Content-Range', 'bytes 0-4/9', 'Content-Length', '5'];
    const { headers, html } = response(raw);
    assert.equal(html, undefined);
    assert.equal(headers.get('content-length'), '5');
  });

  for (const [encoding, expected] of [
    ['', ''],
    ['gzip', 'gzip'],
    ['BR', 'br'],
    ['x-gzip', 'x-gzip'],
    ['deflate', 'deflate'],
    ['zstd', undefined],
  ] as const) {
    it(`of a document encoded by ${encoding || 'nothing'}`, () => {
      const raw = ['Content-Type', 'Text/HTML; charset=utf-8', 'Content-Length', '9'];
      const { headers, html } = response(encoding ? [...raw, 'Content-Encoding', encoding] : raw);
      assert.equal(html, expected);
      assert.equal(headers.get('content-length'), expected === undefined ? '9' : null);
      assert.equal(headers.get('content-encoding'), expected === undefined ? encoding : null);
    });
  }
});
