import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { namespaceResource } from '../../../../src/api/core/v1/namespace.ts';
import { serviceResource } from '../../../../src/api/core/v1/service/service.ts';
import { endpointSliceResource } from '../../../../src/api/discovery/v1/endpoint-slice.ts';
import { type ClusterZone, createClusterZone } from '../../../../src/cluster-dns/cluster-zone.ts';
import type { DnsRecord } from '../../../../src/cluster-dns/packet.ts';
import { answerFrom } from '../../../../src/cluster-dns/zone/answer.ts';
import { ScriptedInformers } from '../../../fixtures/scripted-informers.ts';
import { makeEndpoint, makeNamespace, makeService, makeShop, makeSlice } from '../objects.ts';

const zoneOf = (informers: ScriptedInformers): ClusterZone =>
  createClusterZone({
    informers,
    domain: 'Cluster.Local',
    nameServer: '10.96.0.10',
    networks: ['10.96.0.0/16', '10.244.0.0/16', 'fd00:10:96::/112', 'fd00:10:244::/56'],
    hostAddresses: (name) => (name === 'app.example.org' ? ['192.0.2.1'] : undefined),
  });

describe('the networks of a zone', () => {
  it('include the ranges of ServiceCIDRs, as they change', () => {
    let ranges: readonly string[] = [];
    let changed = () => {};
    const zone = createClusterZone({
      informers: new ScriptedInformers(),
      domain: 'cluster.local',
      nameServer: '10.96.0.10',
      networks: ['10.96.0.0/16'],
      furtherRanges: {
        current: () => ranges,
        onChange(listener) {
          changed = listener;
        },
      },
      hostAddresses: () => undefined,
    });
    const owned = () => ['10.96.0.1', '203.0.113.7', 'fd00:1::7'].map((ip) => zone.ownsAddress(ip));
    assert.deepEqual(owned(), [true, false, false]);
    ranges = ['203.0.113.0/24', 'fd00:1::/64'];
    changed();
    assert.deepEqual(owned(), [true, true, true]);
  });
});

/** Returns the record as dig shows it. */
function show(record: DnsRecord): string {
  switch (record.type) {
    case 'SRV': {
      const { priority, weight, port, target } = record.data;
      return `SRV ${priority} ${weight} ${port} ${target}`;
    }
    case 'SOA':
      return `SOA ${record.name}`;
    case 'TXT':
      return `TXT ${record.data}`;
    case 'A':
    case 'AAAA':
    case 'CNAME':
    case 'PTR':
    case 'NS':
      return `${record.type} ${record.data}`;
    default:
      throw new Error(`a record of type ${record.type}`);
  }
}

function ask(zone: ClusterZone, question: string): string {
  const [name = '', type = 'A'] = question.split(' ');
  const verdict = answerFrom(zone, { name, type });
  if (!verdict) return 'not ours';
  const { rcode, answers, authorities, follow } = verdict;
  if (answers.length === 0) {
    const soa = authorities.map(show).join() === 'SOA cluster.local';
    return rcode === 'SERVFAIL'
      ? rcode
      : `${rcode === 'NOERROR' ? 'no data' : rcode}${soa ? '' : ' without SOA'}`;
  }
  return [...answers.map(show), ...(follow === undefined ? [] : [`follow ${follow}`])].join(', ');
}

describe('the cluster zone', () => {
  const zone = zoneOf(makeShop());
  const d = 'cluster.local';
  for (const [question, answer] of [
    [`web.shop.svc.${d}`, 'A 10.96.0.20'],
    [`WEB.Shop.SVC.${d.toUpperCase()}`, 'A 10.96.0.20'],
    [`web.shop.svc.${d} AAAA`, 'no data'],
    [`web.shop.svc.${d} MX`, 'no data'],
    [`web.shop.svc.${d} ANY`, 'A 10.96.0.20'],
    [`_http._tcp.web.shop.svc.${d} SRV`, `SRV 0 100 80 web.shop.svc.${d}`],
    [`_quic._udp.web.shop.svc.${d} SRV`, `SRV 0 100 443 web.shop.svc.${d}`],
    [`_http._tcp.web.shop.svc.${d}`, 'no data'],
    [`_http._udp.web.shop.svc.${d} SRV`, 'NXDOMAIN'],
    [`_none._tcp.web.shop.svc.${d} SRV`, 'NXDOMAIN'],
    [`_tcp.web.shop.svc.${d}`, 'no data'],
    [`_sctp.web.shop.svc.${d}`, 'NXDOMAIN'],
    [`a._http._tcp.web.shop.svc.${d} SRV`, 'NXDOMAIN'],
    [`10-244-0-9.web.shop.svc.${d}`, 'A 10.244.0.9'],
    [`db.shop.svc.${d}`, 'A 10.244.0.5, A 10.244.0.6, A 10.244.0.7'],
    [`db-0.db.shop.svc.${d}`, 'A 10.244.0.5'],
    [`10-244-0-7.db.shop.svc.${d}`, 'A 10.244.0.7'],
    [`db-0.db.shop.svc.${d} AAAA`, 'no data'],
    [`db-3.db.shop.svc.${d}`, 'NXDOMAIN'],
    [`x.db-0.db.shop.svc.${d}`, 'NXDOMAIN'],
    [
      `_sql._tcp.db.shop.svc.${d} SRV`,
      ['db-0', 'db-1', '10-244-0-7'].map((host) => `SRV 0 33 15432 ${host}.db.shop.svc.${d}`).join(', '),
    ],
    [`empty.shop.svc.${d}`, 'no data'],
    [`none.shop.svc.${d}`, 'NXDOMAIN'],
    [`shop.svc.${d}`, 'no data'],
    [`none.svc.${d}`, 'NXDOMAIN'],
    [`web.none.svc.${d}`, 'NXDOMAIN'],
    [`svc.${d}`, 'no data'],
    [`away.shop.svc.${d}`, 'CNAME www.example, follow www.example'],
    [`away.shop.svc.${d} AAAA`, 'CNAME www.example, follow www.example'],
    [`away.shop.svc.${d} CNAME`, 'CNAME www.example'],
    [`near.shop.svc.${d}`, `CNAME web.shop.svc.${d}, A 10.96.0.20`],
    [`near.shop.svc.${d} AAAA`, `CNAME web.shop.svc.${d}`],
    [`long.shop.svc.${d}`, 'SERVFAIL'],
    [`10-244-3-4.shop.pod.${d}`, 'A 10.244.3.4'],
    [`10-244-3-256.shop.pod.${d}`, 'NXDOMAIN'],
    [`10-244-3.shop.pod.${d}`, 'NXDOMAIN'],
    [`x.10-244-3-4.shop.pod.${d}`, 'NXDOMAIN'],
    [`10-244-3-4.none.pod.${d}`, 'NXDOMAIN'],
    [`shop.pod.${d}`, 'no data'],
    [`pod.${d}`, 'no data'],
    ['20.0.96.10.in-addr.arpa PTR', `PTR web.shop.svc.${d}`],
    ['20.0.96.10.in-addr.arpa A', 'no data'],
    ['5.0.244.10.in-addr.arpa PTR', `PTR db-0.db.shop.svc.${d}`],
    ['7.0.244.10.in-addr.arpa PTR', `PTR 10-244-0-7.db.shop.svc.${d}`],
    ['9.0.244.10.in-addr.arpa PTR', 'NXDOMAIN'],
    ['1.2.0.192.in-addr.arpa PTR', 'not ours'],
    ['300.0.96.10.in-addr.arpa PTR', 'not ours'],
    ['0.96.10.in-addr.arpa PTR', 'not ours'],
    [`${d} NS`, `NS ns.dns.${d}`],
    [`${d} SOA`, `SOA ${d}`],
    [`${d} A`, 'no data'],
    [`ns.dns.${d}`, 'A 10.96.0.10'],
    [`dns.${d}`, 'no data'],
    [`dns-version.${d} TXT`, 'TXT 1.1.0'],
    [`other.${d}`, 'NXDOMAIN'],
    ['app.example.org', 'A 192.0.2.1'],
    ['APP.example.org AAAA', 'no data'],
    ['www.example', 'not ours'],
    [`my${d}`, 'not ours'],
    ['', 'not ours'],
  ] as const) {
    it(`answers ${question || '.'} with: ${answer}`, () => assert.equal(ask(zone, question), answer));
  }

  it('answers SERVFAIL if CNAMEs form a cycle', () => {
    const verdict = answerFrom(zone, { name: `round.shop.svc.${d}`, type: 'A' });
    assert.equal(verdict?.rcode, 'SERVFAIL');
    assert.ok((verdict?.answers.length ?? 0) <= 8);
  });

  it('answers a question for SRV with the addresses of the targets as additional records', () => {
    const additional = (name: string) =>
      answerFrom(zone, { name, type: 'SRV' })?.additionals.map((record) => `${record.name} ${show(record)}`);
    assert.deepEqual(additional(`_http._tcp.web.shop.svc.${d}`), [`web.shop.svc.${d} A 10.96.0.20`]);
    assert.deepEqual(additional(`_sql._tcp.db.shop.svc.${d}`), [
      `db-0.db.shop.svc.${d} A 10.244.0.5`,
      `db-1.db.shop.svc.${d} A 10.244.0.6`,
      `10-244-0-7.db.shop.svc.${d} A 10.244.0.7`,
    ]);
  });
});

describe('names of two families', () => {
  const informers = makeShop();
  const families = { ipFamilies: ['IPv4', 'IPv6'], ipFamilyPolicy: 'RequireDualStack' as const };
  const both = { clusterIP: '10.96.0.30', clusterIPs: ['10.96.0.30', 'FD00:10:96::30'], ...families };
  informers.put(serviceResource, makeService('both', both));
  const ports = [{ name: 'sql', protocol: 'TCP' as const, port: 5432 }];
  informers.put(
    serviceResource,
    makeService('dual', { clusterIP: 'None', clusterIPs: ['None'], ...families }),
  );
  const four = makeSlice(
    'dual',
    [makeEndpoint('10.244.0.20', { hostname: 'd-0' }), makeEndpoint('10.244.0.21')],
    ports,
  );
  const six = makeSlice(
    'dual',
    [makeEndpoint('fd00:10:244::14', { hostname: 'd-0' }), makeEndpoint('fd00:10:244:0::15')],
    ports,
  );
  informers.put(endpointSliceResource, four);
  informers.put(endpointSliceResource, {
    ...six,
    metadata: { ...six.metadata, name: 'dual-2', uid: 'dual-2' },
    addressType: 'IPv6',
  });
  const zone = zoneOf(informers);
  const d = 'cluster.local';
  const reversed = (last: string, range: string) =>
    `${last.split('').reverse().join('.')}.${'0.'.repeat(32 - last.length - range.length)}${range.split('').reverse().join('.')}.ip6.arpa PTR`;
  for (const [question, answer] of [
    [`both.shop.svc.${d}`, 'A 10.96.0.30'],
    [`both.shop.svc.${d} AAAA`, 'AAAA fd00:10:96::30'],
    [`both.shop.svc.${d} ANY`, 'A 10.96.0.30, AAAA fd00:10:96::30'],
    [`dual.shop.svc.${d}`, 'A 10.244.0.20, A 10.244.0.21'],
    [`dual.shop.svc.${d} AAAA`, 'AAAA fd00:10:244::14, AAAA fd00:10:244::15'],
    [`d-0.dual.shop.svc.${d}`, 'A 10.244.0.20'],
    [`d-0.dual.shop.svc.${d} AAAA`, 'AAAA fd00:10:244::14'],
    [`fd00-10-244--15.dual.shop.svc.${d} AAAA`, 'AAAA fd00:10:244::15'],
    [`fd00-10-244--15.dual.shop.svc.${d}`, 'no data'],
    [`fd00-10-244--7.shop.pod.${d} AAAA`, 'AAAA fd00:10:244::7'],
    [`fd00-10-244--7.shop.pod.${d}`, 'no data'],
    [`fd00--1--2.shop.pod.${d} AAAA`, 'NXDOMAIN'],
    [`--ffff-a00-1.shop.pod.${d} AAAA`, 'NXDOMAIN'],
    [reversed('0030', 'fd0000100096'), `PTR both.shop.svc.${d}`],
    [reversed('0014', 'fd0000100244'), `PTR d-0.dual.shop.svc.${d}`],
    [reversed('0099', 'fd0000100244'), 'NXDOMAIN'],
    [reversed('0001', '20010db8'), 'not ours'],
    ['1.0.0.ip6.arpa PTR', 'not ours'],
    ['30.0.96.10.in-addr.arpa PTR', `PTR both.shop.svc.${d}`],
  ] as const)
    it(`are answered: ${question} with: ${answer}`, () => assert.equal(ask(zone, question), answer));

  it('have records of both families beside SRV', () => {
    const verdict = answerFrom(zone, { name: `_sql._tcp.dual.shop.svc.${d}`, type: 'SRV' });
    assert.deepEqual(verdict?.additionals.map(show), [
      'A 10.244.0.20',
      'AAAA fd00:10:244::14',
      'A 10.244.0.21',
      'AAAA fd00:10:244::15',
    ]);
  });
});

describe('the zone is updated with', () => {
  const db = 'db.shop.svc.cluster.local';
  it('endpoints that are added, changed and removed', () => {
    const informers = makeShop();
    const zone = zoneOf(informers);
    const before = zone.serial;
    assert.match(ask(zone, db), /10\.244\.0\.7/);
    informers.put(endpointSliceResource, makeSlice('db', [makeEndpoint('10.244.0.50')]));
    assert.equal(ask(zone, db), 'A 10.244.0.50');
    assert.equal(ask(zone, '5.0.244.10.in-addr.arpa PTR'), 'NXDOMAIN');
    informers.remove(endpointSliceResource, 'shop/db-1');
    assert.equal(ask(zone, db), 'no data');
    assert.ok(zone.serial > before);
  });

  it('services and namespaces that are added and removed', () => {
    const informers = makeShop();
    const zone = zoneOf(informers);
    assert.equal(ask(zone, 'new.shop.svc.cluster.local'), 'NXDOMAIN');
    informers.put(serviceResource, makeService('new', { clusterIP: '10.96.0.30' }));
    assert.equal(ask(zone, 'new.shop.svc.cluster.local'), 'A 10.96.0.30');
    informers.put(serviceResource, makeService('new', { clusterIP: 'None' }));
    assert.equal(ask(zone, 'new.shop.svc.cluster.local'), 'no data');
    informers.remove(serviceResource, 'shop/new');
    assert.equal(ask(zone, 'new.shop.svc.cluster.local'), 'NXDOMAIN');
    informers.put(namespaceResource, makeNamespace('two'));
    assert.equal(ask(zone, 'two.svc.cluster.local'), 'no data');
    informers.remove(namespaceResource, 'two');
    assert.equal(ask(zone, 'two.svc.cluster.local'), 'NXDOMAIN');
  });

  it('services that publish unready endpoints', () => {
    const informers = makeShop();
    const zone = zoneOf(informers);
    informers.put(serviceResource, makeService('db', { clusterIP: 'None', publishNotReadyAddresses: true }));
    assert.match(ask(zone, db), /A 10\.244\.0\.8$/);
    assert.equal(ask(zone, `db-3.${db}`), 'A 10.244.0.8');
  });
});
