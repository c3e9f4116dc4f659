/** Contract of the store (test/conformance/store.ts) without a real etcd; mutation tests use it. */
import { silentLogger } from '../../../src/base/log.ts';
import { createEtcdStore } from '../../../src/storage/etcd-store.ts';
import { storeSuite } from '../../conformance/store.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { createMemoryStore } from '../../fixtures/memory-store.ts';
import { SeededRandom } from '../../fixtures/seeded-random.ts';
import { ModelEtcd } from './model-etcd.ts';

storeSuite('memory', async () => createMemoryStore());

for (const version of ['3.5.13', '3.4.23'])
  storeSuite(`etcd ${version}`, () => {
    const etcd = new ModelEtcd();
    etcd.version = version;
    return createEtcdStore({
      rpc: etcd.rpc,
      clock: new FakeClock(),
      random: new SeededRandom(1),
      log: silentLogger,
      attemptMs: 1000,
      settleMs: 5000,
    });
  });
