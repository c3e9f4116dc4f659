/**
 * `rollout history`, `undo`, `pause`, `resume` and `restart` of each kind of workload: ctl beside kubectl.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { PodTemplateSpec } from '../../../src/api/core/v1/types.gen.ts';
import { revisionData } from '../../../src/controllers/workloads/revisions/revisions-plan.ts';
import { type Ctl, ctlFor, kubectlFor } from '../../fixtures/ctl.ts';
import { type HttpsTestServer, startHttpsTestServer } from '../../fixtures/https-api-server.ts';
import { kubectlOf, unlessKubectl } from '../../fixtures/kubectls.ts';

const apps = '/apis/apps/v1/namespaces/default';
const selector = { matchLabels: { app: 'web' } };
const withImage = (image: string) => ({
  metadata: { labels: { app: 'web' } },
  spec: { containers: [{ name: 'c', image }] },
});
const kinds = [
  ['DaemonSet', 'daemonsets', 'daemonset.apps'],
  ['StatefulSet', 'statefulsets', 'statefulset.apps'],
] as const;

describe('rollout', { timeout: 300_000 }, () => {
  let server: HttpsTestServer;
  const clients: [string, Ctl][] = [];

  before(async () => {
    server = await startHttpsTestServer();
    const kubeconfig = await server.kubeconfigFor('kubernetes-admin', ['system:masters']);
    clients.push(['ctl', ctlFor(kubeconfig)]);
    const kubectl = kubectlOf('1.32');
    if (kubectl) clients.push(['kubectl', kubectlFor(kubeconfig, kubectl.path)]);
  });
  after(() => server.stop());

  /**
   * Creates a workload of three revisions as its controller would leave it; the last revision is the current
   * template.
   */
  async function make(kind: string, plural: string, name: string): Promise<void> {
    let uid = '';
    for (const [index, image] of ['app:1', 'app:2', 'app:3'].entries()) {
      const body = { metadata: { name }, spec: { selector, template: withImage(image) } };
      const made = uid
        ? await server.call('PATCH', `${apps}/${plural}/${name}`, body, {
            headers: { 'content-type': 'application/merge-patch+json' },
          })
        : await server.call('POST', `${apps}/${plural}`, body);
      assert.ok(made.status < 300, made.text);
      const { metadata, spec } = made.json<{
        metadata: { uid: string };
        spec: { template: PodTemplateSpec };
      }>();
      uid = metadata.uid;
      const owner = { apiVersion: 'apps/v1', kind, name, uid, controller: true, blockOwnerDeletion: true };
      const cause = index === 1 ? { annotations: { 'kubernetes.io/change-cause': 'a better image' } } : {};
      const revision = await server.call('POST', `${apps}/controllerrevisions`, {
        metadata: {
          name: `${name}-${index}`,
          labels: selector.matchLabels,
          ownerReferences: [owner],
          ...cause,
        },
        data: revisionData(spec.template),
        revision: index + 1,
      });
      assert.equal(revision.status, 201, revision.text);
    }
  }

  for (const [kind, plural, shown] of kinds)
    it(`handles a ${kind} as kubectl does`, { skip: unlessKubectl('1.32') }, async () => {
      const answers: string[][] = [];
      for (const [who, run] of clients) {
        const name = `${kind.toLowerCase()}-${who}`;
        await make(kind, plural, name);
        const ok = async (...args: string[]) => {
          const { status, out, err } = await run(['rollout', ...args]);
          assert.equal(status, 0, `${who} ${args.join(' ')}: ${err}`);
          return out.replaceAll(name, 'NAME');
        };
        const image = async () => {
          const answer = await server.call('GET', `${apps}/${plural}/${name}`);
          return answer.json<{ spec: { template: PodTemplateSpec } }>().spec.template.spec.containers[0]
            ?.image;
        };
        const target = `${plural}/${name}`;
        const said = [await ok('history', target)];
        said.push(await ok('undo', target, '--to-revision=3'), String(await image()));
        said.push(await ok('undo', target), String(await image()));
        said.push(await ok('undo', target, '--to-revision=1'), String(await image()));
        said.push(await ok('restart', target), String(await image()));
        const refused = await run(['rollout', 'undo', target, '--to-revision=9']);
        said.push(String(refused.status), refused.err);
        answers.push(said);
      }
      const [ours, theirs] = answers;
      assert.deepEqual(ours, theirs);
      assert.deepEqual(ours, [
        `${shown}/NAME \nREVISION  CHANGE-CAUSE\n1         <none>\n2         a better image\n3         <none>\n\n`,
        `${shown}/NAME skipped rollback (current template already matches revision 3)\n`,
        'app:3',
        `${shown}/NAME rolled back\n`,
        'app:2',
        `${shown}/NAME rolled back\n`,
        'app:1',
        `${shown}/NAME restarted\n`,
        'app:1',
        '1',
        'error: unable to find specified revision 9 in history\n',
      ]);
    });

  /** Creates a Deployment of three revisions as its controller would leave it. */
  async function makeDeployment(name: string): Promise<void> {
    let uid = '';
    for (const [index, image] of ['app:1', 'app:2', 'app:3'].entries()) {
      const cause = `change ${index + 1}`;
      const annotations = {
        'kubernetes.io/change-cause': cause,
        'deployment.kubernetes.io/revision': String(index + 1),
      };
      const body = { metadata: { name, annotations }, spec: { selector, template: withImage(image) } };
      const made = uid
        ? await server.call('PATCH', `${apps}/deployments/${name}`, body, {
            headers: { 'content-type': 'application/merge-patch+json' },
          })
        : await server.call('POST', `${apps}/deployments`, body);
      assert.ok(made.status < 300, made.text);
      const { metadata, spec } = made.json<{
        metadata: { uid: string };
        spec: { template: PodTemplateSpec };
      }>();
      uid = metadata.uid;
      const owner = { apiVersion: 'apps/v1', kind: 'Deployment', name, uid, controller: true };
      const labels = { ...selector.matchLabels, 'pod-template-hash': String(index) };
      const template = { ...spec.template, metadata: { labels } };
      const set = await server.call('POST', `${apps}/replicasets`, {
        metadata: { name: `${name}-${index}`, labels, annotations, ownerReferences: [owner] },
        spec: { replicas: 0, selector: { matchLabels: labels }, template },
      });
      assert.equal(set.status, 201, set.text);
    }
  }

  it('handles a Deployment', { skip: unlessKubectl('1.32') }, async () => {
    const answers: string[][] = [];
    for (const [who, run] of clients) {
      const name = `deployment-${who}`;
      await makeDeployment(name);
      const target = `deployments/${name}`;
      const said: string[] = [];
      const say = async (...args: string[]) => {
        const { status, out, err } = await run(['rollout', ...args]);
        said.push(
          `${args.join(' ')}: ${status} ${out}${err}`
            .replaceAll(name, 'NAME')
            .replace("'kubectl rollout resume'", '"ctl rollout resume"'),
        );
      };
      const look = async () => {
        const answer = await server.call('GET', `${apps}/${target}`);
        const { metadata, spec } = answer.json<{
          metadata: { annotations: Record<string, string> };
          spec: { paused?: boolean; template: PodTemplateSpec };
        }>();
        const { annotations } = metadata;
        const restarted = Object.keys(spec.template.metadata.annotations ?? {});
        said.push(
          JSON.stringify([spec.paused, spec.template.spec.containers[0]?.image, annotations, restarted]),
        );
      };
      await say('history', target);
      await say('history', target, '--revision=9');
      await say('pause', target);
      await say('pause', target);
      await look();
      await say('restart', target);
      await say('undo', target);
      await say('resume', target);
      await say('resume', target);
      await say('undo', target, '--dry-run=server');
      await look();
      await say('undo', target);
      await look();
      await say('undo', target, '--to-revision=1');
      await say('restart', target);
      await look();
      await say('status', target, '--revision=7', '--watch=false');
      for (const verb of ['pause', 'resume', 'restart']) await say(verb, `replicasets/${name}-0`);
      await say('pause', 'deployments/nosuch', target);
      answers.push(said);
    }
    const [ours, theirs] = answers;
    assert.deepEqual(ours, theirs);
  });

  it('shows the template of a revision, and it as an object', async () => {
    const [[, ctl] = []] = clients;
    assert.ok(ctl);
    await makeDeployment('shown');
    await make('StatefulSet', 'statefulsets', 'shown');
    const ok = async (...args: string[]) => {
      const { status, out, err } = await ctl(['rollout', ...args]);
      assert.equal(status, 0, err);
      return out;
    };
    for (const kind of ['deployment', 'statefulset']) {
      const text = await ok('history', `${kind}/shown`, '--revision=2');
      assert.match(text, new RegExp(`^${kind}.apps/shown with revision #2\nPod Template:\n`));
      assert.match(text, /Image: +app:2\n/);
      const all = await ok('history', `${kind}/shown`, '-o', 'json');
      assert.deepEqual(all.match(/app:\d/g), ['app:1', 'app:2', 'app:3']);
      const name = await ok('history', `${kind}/shown`, '--revision=2', '-o', 'name');
      assert.equal(name, kind === 'deployment' ? 'replicaset.apps/shown-1\n' : 'statefulset.apps/shown\n');
      const dry = await ok('undo', `${kind}/shown`, '--dry-run=client');
      assert.match(dry, /^\S+ will roll back to Pod Template:\n[\s\S]*app:2\n[\s\S]* \(dry run\)\n$/);
    }
    const none = await server.call('POST', `${apps}/daemonsets`, {
      metadata: { name: 'none' },
      spec: { selector, template: withImage('app:1') },
    });
    assert.equal(none.status, 201, none.text);
    assert.match(await ok('history', 'daemonset/none'), /No rollout history found\./);
  });
});
