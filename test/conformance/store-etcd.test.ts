import { after, before } from 'node:test';
import { startTestEtcd, type TestEtcd } from './etcd-server.ts';
import { storeSuite } from './store.ts';

let server: TestEtcd | undefined;
before(async () => {
  server = await startTestEtcd();
});
after(() => server?.stop());

storeSuite('etcd', () => {
  if (!server) throw new Error('etcd was not started');
  return server.connect();
});
