/**
 * Sixty faults that users make, each in a namespace of one cluster: the API server, the controllers and the
 * scheduler are the real ones, the states of nodes' agents are written as agents report them. The first cause
 * of each must be named.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { podResource } from '../../../src/api/core/v1/pod/pod.ts';
import type { JsonObject } from '../../../src/apimachinery/equality.ts';
import { metadataOf, recordsAt, textAt } from '../../../src/apimachinery/fields.ts';
import { featureRules } from '../../../src/features/why.ts';
import { explain } from '../../../src/why/explain.ts';
import { type KindKey, kindKeys, nameOf, whyKinds } from '../../../src/why/kinds.ts';
import { RuleBook } from '../../../src/why/rule-book.ts';
import { rules } from '../../../src/why/rules/index.ts';
import { Snapshot } from '../../../src/why/snapshot.ts';
import { type Cluster, startCluster } from '../controllers/cluster.ts';
import type { Fault } from './fault.ts';
import { otherFaults } from './other-faults.ts';
import { podFaults } from './pod-faults.ts';
import { schedulingFaults } from './scheduling-faults.ts';

const faults = [...schedulingFaults, ...podFaults, ...otherFaults];
const book = new RuleBook({ ...rules, ...featureRules });
const namespaceOf = (fault: Fault) => `f${faults.indexOf(fault) + 1}`;

const apiPath = (apiVersion: string) => (apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`);
const plurals: Readonly<Record<string, string>> = { Ingress: 'ingresses' };
const versions: Readonly<Record<string, string>> = {
  autoscaling: 'v2',
};
const ofCluster = ['PersistentVolume', 'ValidatingWebhookConfiguration', 'Namespace'];

describe('sixty faults that users make', { timeout: 600_000 }, () => {
  let cluster: Cluster;
  let objects: Partial<Record<KindKey, readonly JsonObject[]>> = {};

  const call = async (method: string, path: string, body?: unknown, type = 'application/json') => {
    const answer = await cluster.until(
      cluster.ask(
        new Request(`http://server${path}`, {
          method,
          ...(body !== undefined && { body: JSON.stringify(body), headers: { 'content-type': type } }),
        }),
      ),
    );
    const text = await cluster.until(answer.text());
    return { status: answer.status, object: JSON.parse(text) as JsonObject };
  };
  const create = async (fault: Fault, object: JsonObject) => {
    const [kind, apiVersion] = [textAt(object, 'kind'), textAt(object, 'apiVersion')];
    const namespace = namespaceOf(fault);
    const plural = plurals[kind] ?? `${kind.toLowerCase()}s`;
    const place = ofCluster.includes(kind) ? '' : `/namespaces/${namespace}`;
    const body: JsonObject = JSON.parse(JSON.stringify(object).replaceAll('NAMESPACE', namespace));
    if (kind === 'Namespace') {
      await call('PATCH', `/api/v1/namespaces/${namespace}`, body, 'application/merge-patch+json');
      return;
    }
    const { status, object: made } = await call('POST', `${apiPath(apiVersion)}${place}/${plural}`, body);
    assert.equal(status, 201, `${fault.fault}: ${JSON.stringify(made)}`);
  };
  const makeNodes = async () => {
    const size = { cpu: '4', memory: '8Gi', pods: '110' };
    for (const pool of ['memory', 'gpu', 'old', 'small', 'plain']) {
      const taints = [{ key: 'dedicated', value: 'gpu', effect: 'NoSchedule' as const }];
      const spec = pool === 'gpu' ? { taints } : pool === 'old' ? { unschedulable: true } : {};
      await cluster.addNode(`n-${pool}`, { ...size, ...(pool === 'small' && { pods: '1' }) }, spec);
      const labels = { pool, 'kubernetes.io/hostname': `n-${pool}` };
      await call(
        'PATCH',
        `/api/v1/nodes/n-${pool}`,
        { metadata: { labels } },
        'application/merge-patch+json',
      );
    }
  };
  /** Writes what the node reports about the pods of a fault, with its events. */
  const report = async (fault: Fault) => {
    const namespace = namespaceOf(fault);
    const pods = await cluster.eventually(`a pod of ${fault.fault}`, async () => {
      const found = await cluster.list(podResource, namespace);
      return found.length > 0 && found.every(({ spec }) => spec.nodeName) && found;
    });
    for (const { metadata } of pods) {
      const path = `/api/v1/namespaces/${namespace}/pods/${metadata.name}/status`;
      const { status, object } = await call(
        'PATCH',
        path,
        { status: fault.status },
        'application/merge-patch+json',
      );
      assert.equal(status, 200, `${fault.fault}: ${JSON.stringify(object)}`);
      for (const [index, [reason, message]] of (fault.events ?? []).entries()) {
        const event = {
          metadata: { name: `${metadata.name}.${index}`, namespace },
          involvedObject: { kind: 'Pod', namespace, name: metadata.name, uid: metadata.uid },
          ...{ type: 'Warning', reason, message, lastTimestamp: '2026-01-01T00:00:00Z' },
        };
        const made = await call('POST', `/api/v1/namespaces/${namespace}/events`, event);
        assert.equal(made.status, 201, JSON.stringify(made.object));
      }
    }
  };
  const read = async () => {
    const entries = kindKeys.map(async (key) => {
      const [plural, ...group] = key.split('.');
      const name = group.join('.');
      const path = name === '' ? '/api/v1' : `/apis/${name}/${versions[name] ?? 'v1'}`;
      const { status, object } = await call('GET', `${path}/${plural}`);
      assert.equal(status, 200, `${key}: ${JSON.stringify(object)}`);
      const later = faults.flatMap((fault) =>
        (fault.later?.[key] ?? []).map((one) => ({
          ...one,
          metadata: { ...(one.metadata as object), namespace: key === 'nodes' ? '' : namespaceOf(fault) },
        })),
      );
      const { kind } = whyKinds[key];
      return [key, [...recordsAt(object, 'items').map((one) => ({ ...one, kind })), ...later]] as const;
    });
    objects = Object.fromEntries(await Promise.all(entries));
  };

  before(async () => {
    cluster = await startCluster();
    cluster.agent.mayBeReady = () => false;
    await makeNodes();
    for (const fault of faults) {
      const made = await call('POST', '/api/v1/namespaces', { metadata: { name: namespaceOf(fault) } });
      assert.equal(made.status, 201, JSON.stringify(made.object));
    }
    for (const fault of faults) for (const object of fault.objects) await create(fault, object);
    for (const fault of faults) if (fault.status) await report(fault);
    await cluster.pass(5000);
    await read();
  });
  after(() => cluster.stop());

  it('number sixty', () => assert.equal(faults.length, 60));

  for (const fault of faults)
    it(`names the first cause for a user who ${fault.fault}`, () => {
      const namespace = namespaceOf(fault);
      const [word = '', name = ''] = fault.subject.split('/');
      const key = kindKeys.find((one) => whyKinds[one].word === word);
      assert.ok(key, `no kind ${word}`);
      const seen = new Snapshot({ nowMs: cluster.clock.now(), objects });
      const chain = explain(seen, { key, namespace, name }, book);
      const last = chain.at(-1);
      assert.ok(last, `nothing is found: ${JSON.stringify(seen.get({ key, namespace, name }))}`);
      const text = [last.finding.says, ...(last.finding.evidence ?? [])].join('\n');
      assert.match(text, fault.says);
      const cause = fault.cause ?? fault.subject;
      if (cause instanceof RegExp) assert.match(nameOf(last.about), cause);
      else assert.equal(nameOf(last.about), cause);
      assert.ok((last.finding.mend ?? []).length > 0 || last.finding.severity === 'waiting', 'no advice');
    });

  it('have their pods in more than thirty namespaces', () => {
    const spaces = new Set((objects.pods ?? []).map((one) => metadataOf(one).namespace));
    assert.ok(spaces.size > 30);
  });
});
