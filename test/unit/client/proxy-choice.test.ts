import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { proxyOf } from '../../../src/client/proxy-choice.ts';

const proxy = 'http://proxy:3128/';
const through = (server: string, noProxy?: string) =>
  proxyOf(server, undefined, {
    HTTPS_PROXY: 'proxy:3128',
    ...(noProxy !== undefined && { NO_PROXY: noProxy }),
  });

describe('the proxy between the client and the server', () => {
  it('is that of the scheme of the server, in capitals or not', () => {
    assert.equal(through('https://api.test:6443'), proxy);
    assert.equal(through('http://api.test:6443'), undefined);
    assert.equal(
      proxyOf('http://api.test', undefined, { http_proxy: 'https://proxy:3128' }),
      'https://proxy:3128/',
    );
    assert.equal(
      proxyOf('https://api.test', undefined, { HTTPS_PROXY: '', https_proxy: 'proxy:3128' }),
      proxy,
    );
    assert.equal(proxyOf('https://api.test', undefined, {}), undefined);
  });

  it('is that of the kubeconfig, even for a server on this machine', () => {
    const env = { HTTPS_PROXY: 'other:1', NO_PROXY: '*' };
    assert.equal(proxyOf('https://127.0.0.1:6443', 'http://proxy:3128', env), proxy);
  });

  it('is not used for a server on this machine', () => {
    for (const host of ['localhost', '127.0.0.1', '127.1.2.3', '[::1]'])
      assert.equal(through(`https://${host}:6443`), undefined, host);
  });

  for (const [list, exempt, others] of [
    ['*', ['api.test', '10.1.2.3'], []],
    ['test', ['test', 'api.test', 'a.b.test'], ['test.org', 'atest']],
    ['.test', ['api.test', 'a.b.test'], ['test']],
    ['*.test', ['api.test'], ['test', 'test.org']],
    ['API.Test', ['api.test', 'x.api.test'], ['test']],
    [' a.test , ,10.1.2.3', ['a.test', '10.1.2.3'], ['10.1.2.4', 'b.test']],
    ['10.1.0.0/16', ['10.1.2.3', '10.1.255.255'], ['10.2.0.0', 'api.test', '[fd00::1]']],
    ['fd00::/8', ['[fd00::1]'], ['[fe80::1]', '10.1.2.3']],
    ['fd00::1', ['[fd00::1]', '[fd00:0::0:1]'], ['[fd00::2]']],
    ['api.test:6443,10.1.2.3:1', ['api.test'], ['10.1.2.3']],
    ['api.test:443,[fd00::1]:6443', ['[fd00::1]'], ['api.test']],
    ['10.1.0.0/99,nonsense/8', [], ['10.1.2.3', 'api.test']],
  ] as const)
    it(`is not used for a server that NO_PROXY=${list} names`, () => {
      for (const host of exempt) assert.equal(through(`https://${host}:6443`, list), undefined, host);
      for (const host of others) assert.equal(through(`https://${host}:6443`, list), proxy, host);
    });

  it('compares the port 443 for a URL without one', () => {
    assert.equal(through('https://api.test', 'api.test:443'), undefined);
  });

  it('is rejected without its password if it is of another type', () => {
    for (const text of ['socks5://me:secret@proxy:1080', 'http://:x'])
      assert.throws(
        () => proxyOf('https://api.test', text, {}),
        (error: Error) =>
          /^proxy-url: the proxy .*: use an HTTP proxy/.test(error.message) &&
          !error.message.includes('secret'),
      );
  });
});
