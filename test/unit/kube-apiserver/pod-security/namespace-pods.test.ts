import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Pod } from '../../../../src/api/core/v1/pod/pod.ts';
import { inOneGo } from '../../../../src/apimachinery/steps.ts';
import {
  maxPods,
  type NamespaceCheck,
  namespaceWarnings,
} from '../../../../src/kube-apiserver/pod-security/namespace-pods.ts';
import { podWith } from './pods.ts';

const pod = (name: string, fields: object = {}, controller?: string): Pod =>
  ({
    ...podWith({ ...fields }),
    metadata: {
      name,
      ...(controller && { ownerReferences: [{ controller: true, uid: controller }] }),
    },
  }) as unknown as Pod;

const check = (pods: readonly Pod[], over: Partial<NamespaceCheck> = {}): NamespaceCheck => ({
  namespace: 'shop',
  total: pods.length,
  pods,
  enforce: { level: 'baseline', version: 'latest' },
  latest: 32,
  isExempt: () => false,
  isOver: () => false,
  ...over,
});
const warnings = (...of: Parameters<typeof check>) => inOneGo(namespaceWarnings(check(...of)));

const violate =
  'existing pods in namespace "shop" violate the new PodSecurity enforce level "baseline:latest"';
const onHost = { hostNetwork: true };

describe('the pods of a namespace whose policy changes', () => {
  test('cause no warning when all are allowed', () => {
    assert.deepEqual(warnings([]), []);
    assert.deepEqual(warnings([pod('a'), pod('b')]), []);
  });

  test('are grouped by their violations, with the first pod of each group', () => {
    const pods = [
      pod('z', onHost),
      pod('a', { hostPID: true }),
      pod('m', onHost),
      pod('b', { ...onHost, volumes: [{ name: 'v', hostPath: {} }] }),
      pod('c', { volumes: [{ name: 'v', hostPath: {} }] }),
      pod('d', { volumes: [{ name: 'w', hostPath: {} }] }),
      pod('fine'),
    ];
    assert.deepEqual(warnings(pods), [
      violate,
      'a (and 2 other pods): host namespaces',
      'b: host namespaces, hostPath volumes',
      'c (and 1 other pod): hostPath volumes',
    ]);
  });

  test('are evaluated with the requested level and version', () => {
    const restricted = { level: 'restricted', version: 18 } as const;
    assert.deepEqual(warnings([pod('a')], { enforce: restricted }), [
      'existing pods in namespace "shop" violate the new PodSecurity enforce level "restricted:v1.18"',
      'a: allowPrivilegeEscalation != false, runAsNonRoot != true',
    ]);
  });

  test('are limited in number, and include one pod of each controller first', () => {
    const replicas = Array.from({ length: maxPods }, (_, index) => pod(`r${index}`, {}, 'one'));
    const pods = [...replicas, pod('last', onHost), pod('other', { hostPID: true }, 'two')];
    assert.deepEqual(warnings(pods), [
      `new PodSecurity enforce level only checked against the first ${maxPods} of ${maxPods + 2} existing pods`,
      violate,
      'last (and 1 other pod): host namespaces',
    ]);
  });

  test('are all checked up to the exact limit', () => {
    const pods = Array.from({ length: maxPods }, (_, index) => pod(`r${index}`, {}, 'one'));
    assert.deepEqual(warnings(pods.with(-1, pod('x', onHost, 'one'))), [violate, 'x: host namespaces']);
  });

  test('are checked while there is time', () => {
    let left = 3;
    const pods = [pod('a', onHost), pod('b'), pod('c', onHost), pod('d', onHost)];
    assert.deepEqual(warnings(pods, { isOver: () => --left === 0 }), [
      'new PodSecurity enforce level only checked against the first 3 of 4 existing pods',
      violate,
      'a (and 1 other pod): host namespaces',
    ]);
  });

  test('take no time if none is checked', () => {
    let left = 5;
    let read = 0;
    function* exempt() {
      for (; read < 100; read++) yield pod(`p${read}`, onHost);
    }
    assert.deepEqual(
      warnings([], { total: 100, pods: exempt(), isExempt: () => true, isOver: () => --left === 0 }),
      ['new PodSecurity enforce level only checked against the first 0 of 95 existing pods'],
    );
    assert.equal(read, 4);
  });

  test('are skipped when they are exempt', () => {
    const pods = [pod('a', onHost), pod('b', { hostPID: true })];
    assert.deepEqual(warnings(pods, { isExempt: ({ metadata }) => metadata.name === 'a' }), [
      violate,
      'b: host namespaces',
    ]);
    assert.deepEqual(warnings(pods, { isExempt: () => true }), []);
  });

  test('are evaluated in one step each, so that other work runs in between', () => {
    const steps = namespaceWarnings(check([pod('a'), pod('b', {}, 'u'), pod('c', {}, 'u')]));
    let turns = 0;
    while (!steps.next().done) turns++;
    assert.ok(turns >= 3, String(turns));
  });
});
