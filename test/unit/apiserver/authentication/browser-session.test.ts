/** Recognition of requests that belong to a session, and were sent by a page of this server. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  cookieIn,
  pageFieldsAmong,
  senderOf,
  sessionOf,
  withoutSession,
} from '../../../../src/apiserver/authentication/browser-session.ts';

const host = 'master.example:6443';

describe('the sender of a request', () => {
  for (const [site, origin, sender] of [
    ['same-origin', `https://${host}`, 'own'],
    ['same-origin', undefined, 'own'],
    ['same-origin', 'https://MASTER.example:6443', 'own'],
    [undefined, `https://${host}`, 'own'],
    [undefined, undefined, 'unknown'],
    ['none', undefined, 'other'],
    ['same-site', `https://${host}`, 'other'],
    ['cross-site', undefined, 'other'],
    ['same-origin, same-origin', undefined, 'other'],
    ['', undefined, 'other'],
    ['same-origin', 'null', 'other'],
    ['same-origin', '', 'other'],
    [undefined, 'https://master.example', 'other'],
    [undefined, 'https://master.example:64430', 'other'],
    [undefined, `http://${host}`, 'other'],
    [undefined, `https://${host}.evil.example`, 'other'],
    [undefined, `https://evil.example/https://${host}`, 'other'],
    [undefined, 'file://', 'other'],
  ] as const) {
    test(`is ${sender} with Sec-Fetch-Site ${site} and Origin ${origin}`, () => {
      const headers = new Headers();
      if (site !== undefined) headers.set('sec-fetch-site', site);
      if (origin !== undefined) headers.set('origin', origin);
      assert.equal(senderOf(headers, host), sender);
    });
  }

  test('has the default port if its host names none', () => {
    assert.equal(senderOf(new Headers({ origin: 'https://master.example' }), 'master.example:443'), 'own');
    assert.equal(senderOf(new Headers({ origin: 'https://[::1]:6443' }), '[::1]:6443'), 'own');
    assert.equal(senderOf(new Headers({ origin: 'https://x' }), ''), 'other');
  });
});

describe('a session of a request', () => {
  const from = (headers: Record<string, string>) =>
    sessionOf(new Headers({ 'sec-fetch-site': 'same-origin', ...headers }), host);

  test('needs both the cookie and the proof', () => {
    const cookie = 'a=b; __Host-minik8s-session=sealed; c=d';
    assert.deepEqual(from({ cookie, 'minik8s-session': 'p' }), { sealed: 'sealed', proof: 'p' });
    assert.equal(from({ cookie }), undefined);
    assert.equal(from({ 'minik8s-session': 'p' }), undefined);
    assert.equal(from({ cookie, 'minik8s-session': 'p', 'sec-fetch-site': 'none' }), undefined);
  });

  test('is read from one cookie with exactly that name', () => {
    const name = '__Host-minik8s-session';
    assert.equal(cookieIn(`${name}=a`, name), 'a');
    assert.equal(cookieIn(`x${name}=a; ${name}x=b; __host-minik8s-session=c`, name), undefined);
    assert.equal(cookieIn(`${name}=a; ${name}=b`, name), undefined);
    assert.equal(cookieIn(name, name), undefined);
  });

  test('is removed from cookies for other programs', () => {
    assert.equal(withoutSession('a=b; __Host-minik8s-session=sealed; c=d'), 'a=b; c=d');
    assert.equal(withoutSession('__Host-minik8s-session=sealed'), '');
    assert.equal(withoutSession('__Host-minik8s-session=1;__Host-minik8s-session = 2;x=y'), 'x=y');
  });
});

test('headers of a page are read from the subprotocols of its WebSocket, unless one occurs twice', () => {
  const [one, exec] = ['minik8s.session.p', 'v5.channel.k8s.io'];
  const accept = (text: string) => `minik8s.accept.${Buffer.from(text).toString('base64url')}`;
  assert.deepEqual(pageFieldsAmong([exec, one]), { proof: 'p', protocols: [exec] });
  assert.deepEqual(pageFieldsAmong([exec]), { protocols: [exec] });
  assert.deepEqual(pageFieldsAmong([one, exec, one]), { protocols: [exec] });
  assert.deepEqual(pageFieldsAmong(['minik8s.session.']), { protocols: [] });
  const table = 'application/json;as=Table;v=v1;g=meta.k8s.io';
  assert.deepEqual(pageFieldsAmong([accept(table), exec]), { accept: table, protocols: [exec] });
  assert.deepEqual(pageFieldsAmong([accept('a\r\nx: y'), exec]), { protocols: [exec] });
});
