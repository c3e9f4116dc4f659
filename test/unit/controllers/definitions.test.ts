/** Definitions of the controllers: names, numbers of workers, and restricted watches. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemObjects } from '../../../src/api/core/v1/system-objects.ts';
import { replaceable } from '../../../src/base/current.ts';
import { Registry } from '../../../src/base/metrics/registry.ts';
import { type ControllerFactory, controllersWith } from '../../../src/controller-runtime/definition.ts';
import { type ControllersOptions, controllers } from '../../../src/controllers/index.ts';
import { fixedObjectsController } from '../../../src/controllers/masters/fixed-objects.ts';
import { mastersController } from '../../../src/controllers/masters/masters.ts';
import { systemObjectsController } from '../../../src/controllers/masters/system-objects.ts';
import { ScriptedWorld } from './scripted-world.ts';

const never = () => Promise.reject(new Error('nothing is signed here'));
const options: ControllersOptions = {
  clusterCidr: '10.244.0.0/16',
  serviceCidr: '10.96.0.0/16',
  clusterDomain: 'cluster.local',
  nodeApproval: 'auto',
  signSecretToken: never,
  askExtensionServer: never,
  certificates: { read: never, sign: never, authority: replaceable('PEM') },
};
const ofLeader = controllersWith(controllers, options, new Registry()).map(({ controller }) => controller);
const ofMaster: readonly ControllerFactory[] = [
  mastersController({ address: '192.0.2.1', port: 6443, hostname: 'm1', version: '0.1.0' }),
  systemObjectsController(
    systemObjects({
      apiAddress: '10.96.0.1',
      apiPort: 6443,
      dnsAddress: '10.96.0.10',
      dnsDomain: 'cluster.local',
    }),
  ),
  fixedObjectsController,
];
const define = (factory: ControllerFactory) => new ScriptedWorld(factory).controller;

test('each controller has a unique name, under which it is logged and measured', () => {
  const names = [...ofLeader, ...ofMaster].map((factory) => define(factory).name);
  assert.equal(new Set(names).size, names.length);
  for (const name of names) assert.match(name, /^[a-z-]+$/);
});

test('controllers that must not run concurrently have one worker', () => {
  const alone = [...ofLeader, ...ofMaster].map(define).filter(({ workers }) => workers === 1);
  assert.deepEqual(alone.map(({ name }) => name).sort(), [
    'clusterrole-aggregation',
    'csr-approving',
    'csr-cleaner',
    'customresourcedefinition-names',
    'fixed-objects',
    'masters',
    'node-ipam',
    'pod-gc',
    'system-objects',
    'token-cleaner',
  ]);
});

test('controllers of every master watch only their own objects', () => {
  const [masters, objects, fixed] = ofMaster.map((factory) =>
    define(factory).watches.map(({ resource, scope }) => [resource.kind, scope]),
  );
  const named = (name: string, namespace = 'default') => ({
    namespace,
    fieldSelector: `metadata.name=${name}`,
  });
  assert.deepEqual(masters, [
    ['Lease', { namespace: 'kube-system', labelSelector: 'apiserver.kubernetes.io/identity' }],
    ['EndpointSlice', { namespace: 'default', labelSelector: 'kubernetes.io/service-name=kubernetes' }],
    ['Endpoints', named('kubernetes')],
    ['Service', named('kubernetes')],
  ]);
  assert.deepEqual(objects, [
    ['Namespace', undefined],
    ['Service', named('kubernetes')],
    ['Service', named('kube-dns', 'kube-system')],
  ]);
  assert.deepEqual(fixed, [
    ['PriorityClass', undefined],
    ['PriorityLevelConfiguration', undefined],
    ['FlowSchema', undefined],
    ['StorageClass', undefined],
  ]);
});
