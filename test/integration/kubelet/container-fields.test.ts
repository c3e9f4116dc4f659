/** Pod fields that programs in containers would notice if they were ignored. */
import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { after, before, describe, it } from 'node:test';
import type { Pod } from '../../../src/api/core/v1/pod/pod.ts';
import { lockMachine } from '../../fixtures/machine-lock.ts';
import { isReady, type NodeHarness, startNodeHarness } from './node-harness.ts';

await lockMachine();

const isOver = ({ status }: Pod) =>
  status?.containerStatuses?.every(({ state }) => state?.terminated !== undefined) === true;

describe('the environment of a program in a container', { timeout: 300_000 }, () => {
  let node: NodeHarness;
  before(async () => {
    node = await startNodeHarness();
    await node.startAgent();
  });
  after(() => node.close());

  const shell = (name: string, script: string, more: object = {}) => ({
    ...{ name, image: node.images.busybox, imagePullPolicy: 'IfNotPresent' },
    ...{ command: ['sh', '-c', script], ...more },
  });
  async function said(name: string, containers: readonly object[], spec: object = {}) {
    await node.createPod(name, { containers, restartPolicy: 'Never', ...spec });
    const { status } = await node.waitFor(name, isOver);
    return Object.fromEntries(
      (status?.containerStatuses ?? []).map((one) => [one.name, one.state?.terminated?.message]),
    );
  }

  it('has the working directory, the arguments and the file for the termination message that the pod names', async () => {
    const told = await said('fields', [
      shell('directory', 'pwd >/dev/termination-log', { workingDir: '/tmp' }),
      shell('arguments', 'echo "$0 $1" >/dev/termination-log', { args: ['one', 'two'] }),
      shell('file', 'echo there >/tmp/words', { terminationMessagePath: '/tmp/words' }),
      shell('silent', 'echo printed; exit 3'),
      shell('printed', 'echo printed; exit 3', { terminationMessagePolicy: 'FallbackToLogsOnError' }),
      shell('well', 'echo printed', { terminationMessagePolicy: 'FallbackToLogsOnError' }),
      shell('both', 'echo printed; echo file >/dev/termination-log; exit 3', {
        terminationMessagePolicy: 'FallbackToLogsOnError',
      }),
    ]);
    assert.deepEqual(told, {
      directory: '/tmp\n',
      arguments: 'one two\n',
      file: 'there\n',
      silent: undefined,
      printed: 'printed\n',
      well: undefined,
      both: 'file\n',
    });
  });

  it('has variables for the present Services, if its pod enables them', async () => {
    const made = await node.server.call('POST', '/api/v1/namespaces/default/services', {
      metadata: { name: 'other' },
      spec: { ports: [{ port: 80 }] },
    });
    assert.equal(made.status, 201, made.text);
    const list = [shell('main', 'echo "<$OTHER_SERVICE_PORT>" >/dev/termination-log')];
    assert.deepEqual(await said('linked', list), { main: '<80>\n' });
    assert.deepEqual(await said('unlinked', list, { enableServiceLinks: false }), { main: '<>\n' });
  });

  it('has the end of its input after the first attached client has left', async () => {
    const reads = (more: object) => [
      shell('main', 'read line; echo "$line" >/dev/termination-log', { stdin: true, ...more }),
      shell('goes', 'while read line; do :; done; echo over >/dev/termination-log', { stdin: true, ...more }),
    ];
    await node.createPod('asked', {
      containers: reads({ stdinOnce: true }),
      ...{ restartPolicy: 'Never', terminationGracePeriodSeconds: 0 },
    });
    await node.waitFor('asked', isReady);
    const { status } = await node.pod('asked');
    const none = { stdout: undefined, stderr: undefined, sizes: (async function* () {})() };
    for (const { containerID = '' } of status?.containerStatuses ?? []) {
      const streams = { stdin: Readable.from([Buffer.from('typed\n')]), ...none };
      await node.runtime.attach(containerID.replace('docker://', ''), streams, AbortSignal.timeout(120_000));
    }
    const over = await node.waitFor('asked', isOver);
    assert.deepEqual(
      over.status?.containerStatuses?.map(({ state }) => state?.terminated?.message),
      ['over\n', 'typed\n'],
    );
  });

  it('has the user and the groups that the status shows', async () => {
    await node.createPod('somebody', {
      containers: [shell('main', 'exec sleep 1000')],
      securityContext: { runAsUser: 1234, runAsGroup: 2345, supplementalGroups: [77], fsGroup: 88 },
      terminationGracePeriodSeconds: 0,
    });
    const { status } = await node.waitFor('somebody', isReady);
    const user = status?.containerStatuses?.[0]?.user?.linux;
    assert.deepEqual([user?.uid, user?.gid], [1234, 2345]);
    const groups = user?.supplementalGroups?.filter((gid) => gid !== 2345) ?? [];
    assert.deepEqual(
      groups.toSorted((a, b) => a - b),
      [77, 88],
    );
  });
});
