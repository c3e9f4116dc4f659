import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ParamRef } from '../../../../src/api/admissionregistration/v1/types.gen.ts';
import { configMapResource } from '../../../../src/api/core/v1/config-map.ts';
import { namespaceResource } from '../../../../src/api/core/v1/namespace.ts';
import type { KubeObject } from '../../../../src/apimachinery/meta.ts';
import { apiVersionOf, type ResourceDefinition } from '../../../../src/apimachinery/resource-definition.ts';
import {
  collectParameters,
  type ParameterReader,
} from '../../../../src/kube-apiserver/policies/collect-parameters.ts';

const object = (kind: string, namespace: string, name: string, labels = {}) =>
  ({ apiVersion: 'v1', kind, metadata: { name, namespace, labels } }) as unknown as KubeObject;

const stored = [
  object('ConfigMap', 'default', 'one', { size: 'big' }),
  object('ConfigMap', 'default', 'two', { size: 'big' }),
  object('ConfigMap', 'other', 'one'),
  object('Namespace', '', 'default'),
];
const served = [configMapResource, namespaceResource] as unknown as readonly ResourceDefinition[];
const isOf = (kind: ResourceDefinition, namespace: string) => (one: KubeObject) =>
  one.kind === kind.kind && (one.metadata.namespace ?? '') === namespace;
const reader: ParameterReader = {
  kindOf: ({ apiVersion, kind }) =>
    served.find((one) => one.kind === kind && apiVersionOf(one) === apiVersion),
  get: (kind, namespace, name) =>
    stored.filter(isOf(kind, namespace)).find(({ metadata }) => metadata.name === name),
  list: (kind, namespace) => stored.filter(isOf(kind, namespace)),
};

const rows: readonly [string, { kind?: string; reference?: ParamRef; namespace?: string }, unknown][] = [
  ['no kind', { reference: { name: 'one' } }, [null]],
  ['no reference', { kind: 'ConfigMap' }, [null]],
  [
    'of an unknown kind',
    { kind: 'Rule', reference: { name: 'one' } },
    'paramKind kind `v1, Kind=Rule` not known',
  ],
  ['in the namespace of the request', { kind: 'ConfigMap', reference: { name: 'one' } }, ['default/one']],
  [
    'in the namespace of the reference',
    { kind: 'ConfigMap', reference: { name: 'one', namespace: 'other' } },
    ['other/one'],
  ],
  [
    'for a request outside of namespaces',
    { kind: 'ConfigMap', reference: { name: 'one' }, namespace: '' },
    'cannot use namespaced paramRef in policy binding that matches cluster-scoped resources',
  ],
  [
    'with a namespace for a cluster-scoped kind',
    { kind: 'Namespace', reference: { name: 'default', namespace: 'other' } },
    'paramRef.namespace must not be provided for a cluster-scoped `paramKind`',
  ],
  ['of a cluster-scoped kind', { kind: 'Namespace', reference: { name: 'default' } }, ['/default']],
  [
    'labels',
    { kind: 'ConfigMap', reference: { selector: { matchLabels: { size: 'big' } } } },
    ['default/one', 'default/two'],
  ],
  [
    'none found, with the action Allow',
    { kind: 'ConfigMap', reference: { name: 'none', parameterNotFoundAction: 'Allow' } },
    [],
  ],
  [
    'none found, with the action Deny',
    { kind: 'ConfigMap', reference: { name: 'none', parameterNotFoundAction: 'Deny' } },
    'no params found for policy binding with `Deny` parameterNotFoundAction',
  ],
];

for (const [title, { kind, reference, namespace = 'default' }, expected] of rows)
  test(`parameters are collected: ${title}`, () => {
    const paramKind = kind === undefined ? undefined : { apiVersion: 'v1', kind };
    const result = collectParameters(paramKind, reference, namespace, reader);
    const shown = 'problem' in result ? result.problem : result.found.map((one) => one && nameOf(one));
    assert.deepEqual(shown, expected);
  });

const nameOf = ({ metadata: { namespace, name } }: KubeObject) => `${namespace}/${name}`;
