/** The connections per second of Services, from listings of the kernel's maps. */
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { ConnectionReader } from '../../../src/service-proxy/service-connections.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { RecordingLogger } from '../../fixtures/recording-logger.ts';

type Counted = readonly [key: string, packets: number, target: string];

/** Returns a listing as nft prints it. */
const listing = (...elements: readonly Counted[]) => `table ip t {
	map endpoints {
		type ipv4_addr . inet_proto . inet_service . mark : ipv4_addr . inet_service
		counter
		elements = { ${elements
      .map(([key, packets, target]) => `${key} counter packets ${packets} bytes ${packets * 60} : ${target}`)
      .join(',\n\t\t\t     ')} }
	}
}
`;
const web = '10.96.0.9 . tcp . 80';
const [first, second] = [`${web} . 0x4d000000`, `${web} . 0x4d000001`];

describe('the connections of Services', () => {
  let clock: FakeClock;
  let maps: Map<string, string | Error>;
  let listed: number;
  let reader: ConnectionReader;
  beforeEach(async () => {
    [clock, maps, listed] = [new FakeClock(), new Map(), 0];
    reader = new ConnectionReader({
      ...{ clock, log: new RecordingLogger(), tables: ['ip t', 'ip6 t'] },
      exec: async (_program, [, , family, , map]) => {
        listed++;
        const found = maps.get(`${family} ${map}`) ?? '';
        if (found instanceof Error) throw found;
        return { stdout: found, stderr: '' };
      },
      serviceOf: (map, key) =>
        new Map([
          [`endpoints ${web}`, 'a/web'],
          ['node-port-endpoints tcp . 30080', 'a/web'],
        ]).get(`${map} ${key}`) ?? (key.startsWith('fd00:') ? 'a/six' : undefined),
    });
    await clock.advance(100_000);
  });
  const tell = (...elements: readonly Counted[]) => maps.set('ip endpoints', listing(...elements));
  const found = async () =>
    (await reader.read()).endpoints.map(
      ({ service, address, port, perSecond }) => `${service} ${address}:${port} ${perSecond}`,
    );

  it('are the difference of two readings by the time between them', async () => {
    tell([first, 100, '10.244.0.2 . 8080'], [second, 7, '10.244.0.3 . 8080']);
    assert.deepEqual(await reader.read(), { at: clock.now(), windowMs: undefined, endpoints: [] });
    await clock.advance(10_000);
    tell([first, 125, '10.244.0.2 . 8080'], [second, 7, '10.244.0.3 . 8080']);
    assert.deepEqual(await found(), ['web 10.244.0.2:8080 2.5']);
  });

  it('have the connections to node ports and to addresses of IPv6 as well', async () => {
    await reader.read();
    await clock.advance(2_000);
    maps.set('ip node-port-endpoints', listing(['tcp . 30080 . 0x4e000000', 4, '10.244.0.2 . 8080']));
    maps.set('ip6 endpoints', listing(['fd00::9 . udp . 53 . 0x4d000000', 2, 'fd01::2 . 53']));
    assert.deepEqual(await found(), ['six fd01::2:53 1', 'web 10.244.0.2:8080 2']);
  });

  it('begin at 0 for an endpoint that takes the slot of another one, and for rules written again', async () => {
    tell([first, 100, '10.244.0.2 . 8080'], [second, 50, '10.244.0.3 . 8080']);
    await reader.read();
    await clock.advance(1_000);
    tell([first, 300, '10.244.0.4 . 8080'], [second, 20, '10.244.0.3 . 8080']);
    assert.deepEqual(await found(), ['web 10.244.0.4:8080 300', 'web 10.244.0.3:8080 20']);
  });

  it('are read once for clients that ask at the same time or within four seconds', async () => {
    await reader.read();
    await clock.advance(1_000);
    await Promise.all([reader.read(), reader.read()]);
    await clock.advance(3_000);
    await reader.read();
    assert.equal(listed, 8);
    await clock.advance(1_000);
    await reader.read();
    assert.equal(listed, 12);
  });

  it('have no rate over less than a second, and none over more than a minute', async () => {
    tell([first, 100, '10.244.0.2 . 8080']);
    await reader.read();
    await clock.advance(500);
    tell([first, 200, '10.244.0.2 . 8080']);
    assert.equal((await reader.read()).windowMs, undefined);
    await clock.advance(500);
    assert.deepEqual(await found(), ['web 10.244.0.2:8080 100']);
    await clock.advance(61_000);
    assert.equal((await reader.read()).windowMs, undefined);
  });

  it('are those of the other maps if one cannot be listed, or belongs to no Service any more', async () => {
    await reader.read();
    await clock.advance(1_000);
    maps.set('ip node-port-endpoints', new Error('no such map'));
    tell([first, 1, '10.244.0.2 . 8080'], ['10.96.0.77 . tcp . 80 . 0x4d000000', 9, '10.244.0.2 . 8080']);
    assert.deepEqual(await found(), ['web 10.244.0.2:8080 1']);
  });
});
