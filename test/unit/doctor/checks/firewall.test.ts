import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type FirewallFacts, firewallChecks } from '../../../../src/doctor/checks/firewall.ts';
import { linesOf, observe } from '../../../fixtures/situation.ts';

const ufw = (...rules: string[]) =>
  [
    'Status: active',
    'Logging: on (low)',
    'Default: deny (incoming), allow (outgoing), disabled (routed)',
    'New profiles: skip',
    '',
    'To                         Action      From',
    '--                         ------      ----',
    // ufw fills the last column up with spaces.
    ...rules.map((rule) => rule.padEnd(67)),
    '',
  ].join('\n');

const none: FirewallFacts = { drops: [], forwards: [], ownTables: [] };
const at = (name: string, facts: Partial<FirewallFacts>, node = false) =>
  linesOf(observe(firewallChecks, name, { ...none, ...facts }, node ? { hasMaster: false } : {}));

describe('checks of firewalld', () => {
  it('advise opening the ports and trusting the addresses of pods', () =>
    assert.deepEqual(at('firewalld', { firewalld: { ports: ['22/tcp', '6443/udp'], trusted: [] } }), [
      'fault: firewalld is active and blocks the ports 6443/tcp, 10250/tcp, 8472/udp and packets of pods (10.244.0.0/16)' +
        ' # firewall-cmd --permanent --add-port=6443/tcp && firewall-cmd --permanent --add-port=10250/tcp' +
        ' && firewall-cmd --permanent --add-port=8472/udp' +
        ' && firewall-cmd --permanent --zone=trusted --add-source=10.244.0.0/16 && firewall-cmd --reload',
    ]));

  it('accept ranges of ports', () =>
    assert.deepEqual(
      at('firewalld', { firewalld: { ports: ['6000-11000/tcp', '8472/udp'], trusted: ['10.244.0.0/16'] } }),
      ['ok: firewalld permits the cluster'],
    ));

  it('report nothing if it does not run', () =>
    assert.deepEqual(at('firewalld', {}), ['ok: firewalld does not run']));
});

describe('checks of ufw', () => {
  it('advise allowing the missing ports', () =>
    assert.deepEqual(
      at('ufw', {
        ufw: ufw(
          '6443/tcp                   ALLOW IN    Anywhere',
          '10250                      DENY IN     Anywhere',
        ),
      }),
      [
        'fault: ufw is active and blocks the ports 10250/tcp, 8472/udp and packets of pods (10.244.0.0/16)' +
          ' # ufw allow 10250/tcp && ufw allow 8472/udp && ufw allow from 10.244.0.0/16',
      ],
    ));

  it('accept a port without a protocol, and expect no API server on a node', () =>
    assert.deepEqual(
      at(
        'ufw',
        {
          ufw: ufw(
            '10250                      ALLOW IN    Anywhere',
            '8472/udp                   ALLOW IN    Anywhere',
            'Anywhere                   ALLOW IN    10.244.0.0/16',
            '10250 (v6)                 ALLOW IN    Anywhere (v6)',
          ),
        },
        true,
      ),
      ['ok: ufw permits the cluster'],
    ));

  it('do not treat a rule for one address as a rule for all', () =>
    assert.match(
      at('ufw', { ufw: ufw('6443/tcp                   ALLOW IN    192.0.2.7') })[0] ?? '',
      /blocks the ports 6443\/tcp/,
    ));

  it('report nothing if it is not installed, not active, or permits everything', () => {
    assert.deepEqual(at('ufw', {}), ['ok: ufw is not installed']);
    assert.deepEqual(at('ufw', { ufw: 'Status: inactive\n' }), ['ok: ufw is not active']);
    assert.deepEqual(at('ufw', { ufw: ufw().replace('deny (incoming)', 'allow (incoming)') }), [
      'ok: ufw permits incoming packets',
    ]);
  });
});

describe('checks of a cluster of two families', () => {
  const both = { clusterCIDR: '10.244.0.0/16,fd00:10:244::/56' };
  const found = (name: string, facts: Partial<FirewallFacts>, more = {}) =>
    linesOf(observe(firewallChecks, name, { ...none, ...facts }, { ...both, ...more }));

  it('require that firewalld and ufw accept packets of both ranges', () => {
    const ports = ['6443/tcp', '10250/tcp', '8472/udp'];
    assert.deepEqual(found('firewalld', { firewalld: { ports, trusted: ['10.244.0.0/16'] } }), [
      'fault: firewalld is active and blocks packets of pods (fd00:10:244::/56)' +
        ' # firewall-cmd --permanent --zone=trusted --add-source=fd00:10:244::/56 && firewall-cmd --reload',
    ]);
    const rules = [
      ...ports.map((port) => `${port.padEnd(27)}ALLOW IN    Anywhere`),
      'Anywhere                   ALLOW IN    10.244.0.0/16',
    ];
    assert.deepEqual(found('ufw', { ufw: ufw(...rules) }), [
      'fault: ufw is active and blocks packets of pods (fd00:10:244::/56) # ufw allow from fd00:10:244::/56',
    ]);
    const six = 'Anywhere (v6)              ALLOW IN    fd00:10:244::/56';
    assert.deepEqual(found('ufw', { ufw: ufw(...rules, six) }), ['ok: ufw permits the cluster']);
  });

  it('mend a chain of both families by rules of each', () => {
    const forwards = [{ table: 'inet own', chain: 'forward', acceptsPods: false }];
    const [line = ''] = found('forwarding-rules', { forwards }, { pid: 42 });
    assert.equal(
      line.split(' # ')[1],
      [
        'nft insert rule inet own forward ip saddr 10.244.0.0/16 accept',
        'nft insert rule inet own forward ip daddr 10.244.0.0/16 accept',
        'nft insert rule inet own forward ip6 saddr fd00:10:244::/56 accept',
        'nft insert rule inet own forward ip6 daddr fd00:10:244::/56 accept',
      ].join(' && '),
    );
    const docker = [{ table: 'ip6 filter', chain: 'FORWARD', acceptsPods: false }];
    assert.match(
      found('forwarding-rules', { forwards: docker }, { pid: 42 })[0] ?? '',
      /^fault: .* # systemctl/,
    );
  });

  it('expect the table of IPv6 for Services', () => {
    const ownTables = ['ip minik8s-proxy', 'ip minik8s-network', 'ip minik8s-dns'];
    assert.deepEqual(found('own-rules', { ownTables }, { pid: 42 }), [
      'fault: the nft tables ip6 minik8s-proxy are missing # systemctl restart minik8s.service',
    ]);
  });
});

describe('rules that drop packets', () => {
  it('are notes with the command that deletes them', () =>
    assert.deepEqual(
      at('dropping-rules', {
        drops: [{ table: 'inet cut', chain: 'in', handle: 4, rule: 'ip saddr 192.0.2.2 drop' }],
      }),
      [
        'note: a rule of table inet cut, chain in drops packets: ip saddr 192.0.2.2 drop # nft delete rule inet cut in handle 4',
      ],
    ));
});

describe('chains that drop forwarded packets by default', () => {
  const forward = (table: string, acceptsPods: boolean) => ({ table, chain: 'FORWARD', acceptsPods });
  const forwarding = (forwards: FirewallFacts['forwards'], pid?: number) =>
    linesOf(
      observe(firewallChecks, 'forwarding-rules', { ...none, forwards }, pid === undefined ? {} : { pid }),
    );

  it('are ok with a rule for pods, and if there is no such chain', () => {
    assert.deepEqual(forwarding([]), ['ok: no chain drops forwarded packets by default']);
    assert.deepEqual(forwarding([forward('ip filter', true)], 42), [
      'ok: chain FORWARD of ip filter drops forwarded packets by default, and accepts those of pods',
    ]);
  });

  it('of Docker are a fault without the rule only while minik8s runs, because its start adds the rule', () => {
    assert.match(
      forwarding([forward('ip filter', false)])[0] ?? '',
      /^ok: .*minik8s lets those of pods pass$/,
    );
    assert.deepEqual(forwarding([forward('ip filter', false)], 42), [
      'fault: chain FORWARD of ip filter drops forwarded packets by default, also those of pods # systemctl restart minik8s.service',
    ]);
  });

  it('of other firewalls come with commands that accept the range of pods', () => {
    const [line = ''] = forwarding([{ table: 'inet own', chain: 'forward', acceptsPods: false }], 42);
    assert.match(
      line,
      / # nft insert rule inet own forward ip saddr 10\.244\.0\.0\/16 accept && nft insert rule inet own forward ip daddr 10\.244\.0\.0\/16 accept$/,
    );
    assert.match(
      forwarding([forward('iptables-legacy', false)], 42)[0] ?? '',
      / # iptables-legacy -I FORWARD -s 10\.244\.0\.0\/16 -j ACCEPT && iptables-legacy -I FORWARD -d /,
    );
  });

  it('do not matter on a machine without pods', () =>
    assert.deepEqual(
      observe(
        firewallChecks,
        'forwarding-rules',
        { ...none, forwards: [forward('ip filter', false)] },
        { hasNode: false },
      ),
      [],
    ));
});

describe('the tables of minik8s', () => {
  const own = (ownTables: readonly string[], pid?: number) =>
    linesOf(observe(firewallChecks, 'own-rules', { ...none, ownTables }, pid === undefined ? {} : { pid }));
  const all = ['ip minik8s-proxy', 'ip minik8s-network', 'ip minik8s-dns'];

  it('are expected while minik8s runs', () => {
    assert.deepEqual(own(all, 42), ['ok: the nft tables of Services, pods and DNS are in the kernel']);
    assert.deepEqual(own([]), []);
    assert.deepEqual(own(all.slice(1), 42), [
      'fault: the nft tables ip minik8s-proxy are missing # systemctl restart minik8s.service',
    ]);
  });
});
