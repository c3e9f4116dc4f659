/** Client libraries of Python, unmodified: objects, watches, errors, exec, logs and port-forward. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { pythonClient, unlessPythonClients } from '../../fixtures/python-clients.ts';
import { type StreamCluster, startStreamCluster } from './stream-cluster.ts';

const patched = { b: '9', c: '3' };
const conflict = [409, 'Conflict'];
const exists = [409, 'AlreadyExists'];
const absent = [404, 'NotFound'];
const invalid = [422, 'Invalid'];

describe('a client of Python:', { skip: unlessPythonClients }, () => {
  let cluster: StreamCluster;
  let kubeconfig: string;

  before(async () => {
    cluster = await startStreamCluster();
    cluster.runtime.logs = async () =>
      (async function* () {
        yield Buffer.from('first\n');
        yield Buffer.from('second\n');
      })();
    kubeconfig = await cluster.server.kubeconfigFor('user', ['system:masters']);
  });
  after(() => cluster.stop());

  it('the official one works, and reads why a handshake was refused', async () => {
    const { refused_handshake: refused, ...found } = await pythonClient('official', kubeconfig);
    assert.match(
      String(refused),
      /^Handshake status 404 .* -\+-\+- \{"kind":"Status",.*"message":"pods \\"none\\" not found"/,
    );
    assert.deepEqual(found, {
      patches: [conflict, patched],
      errors: [absent, exists, conflict, invalid],
      new_deployment: [true, 2],
      pages: 5,
      watched: ['ADDED watched', 'DELETED watched'],
      executed: ['out\n', 'err\n', 3, 'typed'],
      forwarded: 'echo',
      dynamically: { a: '1', b: '2' },
      deleted: [conflict, 'Success'],
    });
  });

  it('kr8s works, and reads the status of a Deployment that no controller has seen', async () => {
    assert.deepEqual(await pythonClient('kr8s_client', kubeconfig), {
      patches: [{ a: '1', b: '2', c: '3' }, 'front', { k: 'v' }],
      errors: ['NotFoundError', exists, invalid],
      new_deployment: [{}, false],
      listed: ['kr8s'],
      watched: ['ADDED kr8s', 'ADDED watched-by-kr8s', 'DELETED watched-by-kr8s'],
      executed: ['out\n', 'err\n', 3],
      logs: ['first', 'second'],
      forwarded: 'echo',
    });
  });

  it('kubernetes_asyncio works', async () => {
    assert.deepEqual(await pythonClient('asyncio_client', kubeconfig), {
      patches: [conflict, { a: '1', b: '9', c: '3' }],
      errors: [absent, exists, invalid],
      new_deployment: [true, 2],
      watched: ['ADDED watched-by-aio', 'DELETED watched-by-aio'],
      executed: ['out\n', 'err\n', 3],
      logs: ['first\n', 'second\n'],
    });
  });
});
