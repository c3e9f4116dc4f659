/**
 * Types of the variables `request` and `namespaceObject` in expressions of webhooks and policies (upstream:
 * admission/plugin/cel, BuildRequestType and BuildNamespaceType).
 */
import {
  bool,
  dyn,
  type FieldType,
  int,
  listOf,
  mapOf,
  type ObjectType,
  string,
  type Type,
  timestamp,
} from '../../../../cel/types/type.ts';

const objectOf = (name: string, fields: Readonly<Record<string, Type>>): ObjectType => ({
  kind: 'object',
  name: `kubernetes.${name}`,
  fields: new Map<string, FieldType>(
    Object.entries(fields).map(([property, type]) => [property, { property, type }]),
  ),
});

const kind = objectOf('GroupVersionKind', { group: string, version: string, kind: string });
const resource = objectOf('GroupVersionResource', { group: string, version: string, resource: string });
const userInfo = objectOf('UserInfo', {
  username: string,
  uid: string,
  groups: listOf(string),
  extra: mapOf(string, listOf(string)),
});

export const requestType = objectOf('AdmissionRequest', {
  kind,
  resource,
  subResource: string,
  requestKind: kind,
  requestResource: resource,
  requestSubResource: string,
  name: string,
  namespace: string,
  operation: string,
  userInfo,
  dryRun: bool,
  options: dyn,
});

export const namespaceType = objectOf('Namespace', {
  metadata: objectOf('NamespaceMetadata', {
    name: string,
    generateName: string,
    namespace: string,
    labels: mapOf(string, string),
    annotations: mapOf(string, string),
    UID: string,
    creationTimestamp: timestamp,
    deletionGracePeriodSeconds: int,
    deletionTimestamp: timestamp,
    generation: int,
    resourceVersion: string,
    finalizers: listOf(string),
  }),
  spec: objectOf('NamespaceSpec', { finalizers: listOf(string) }),
  status: objectOf('NamespaceStatus', {
    conditions: listOf(
      objectOf('NamespaceCondition', {
        status: string,
        type: string,
        lastTransitionTime: timestamp,
        message: string,
        reason: string,
      }),
    ),
    phase: string,
  }),
});
