import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { renderAddresses } from '../../../src/cluster-dns/rules.ts';
import { parseResolvConf } from '../../../src/formats/resolv-conf.ts';
import { nameServers } from '../../../src/roles/settings/name-servers.ts';
import { domain } from '../../../src/settings/domains.ts';

describe('resolv.conf', () => {
  it('is read as the resolver of libc reads it', () => {
    const text = `
# a comment
domain old.example
search corp.example. a.example .   ; and another
nameserver 192.0.2.53
nameserver
 nameserver fe80::1%eth0
options ndots:2 edns0
options rotate
sortlist 192.0.2.0
`;
    assert.deepEqual(parseResolvConf(text), {
      nameservers: ['192.0.2.53', 'fe80::1%eth0'],
      searches: ['corp.example.', 'a.example'],
      options: ['ndots:2', 'edns0', 'rotate'],
    });
    assert.deepEqual(parseResolvConf(''), { nameservers: [], searches: [], options: [] });
  });
});

describe('settings of names', () => {
  it('are read in lower case, and with port 53 by default', () => {
    assert.equal(domain('Cluster.Local.'), 'cluster.local');
    assert.deepEqual(nameServers('192.0.2.53, 192.0.2.54:5353'), [
      { address: '192.0.2.53', port: 53 },
      { address: '192.0.2.54', port: 5353 },
    ]);
  });
  for (const text of ['', 'a..b', '-a.b', 'a_b', `${'a'.repeat(64)}.b`]) {
    it(`refuse the domain "${text}"`, () => assert.throws(() => domain(text), /such as cluster\.local/));
  }
  for (const text of ['', 'ns.example', '192.0.2.53:0', '192.0.2.53:x', '192.0.2.53:1:2', '192.0.2.53,']) {
    it(`refuse the servers "${text}"`, () => assert.throws(() => nameServers(text), /such as 192\.0\.2\.53/));
  }
});

describe('the link of the DNS server', () => {
  it('gets missing addresses and loses unwanted ones', () => {
    assert.equal(
      renderAddresses(['10.96.0.10', '169.254.20.10'], ['169.254.20.10', '10.96.0.11']),
      'address delete 10.96.0.11/32 dev minik8s.dns\naddress add 10.96.0.10/32 dev minik8s.dns\nlink set dev minik8s.dns up\n',
    );
  });
});
