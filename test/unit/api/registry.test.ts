import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kubernetesFields } from '../../../src/api/field-table.ts';
import { sharedRules } from '../../../src/api/shared-rules.ts';
import { type DescribedTypes, describedFields } from '../../../src/apimachinery/described-types.ts';
import type { FieldType, ObjectType } from '../../../src/apimachinery/field-types.ts';
import type { RulesByType } from '../../../src/apimachinery/type-rules.ts';
import { kindFields, registry, storedKinds } from '../../../src/features/kinds.ts';
import { upstreamFacts } from './upstream-facts.ts';

test('no two kinds share a name of any sort', () => {
  const names = registry
    .filter(({ conversion }) => !conversion)
    .flatMap(({ plural, singular, shortNames, group }) =>
      // The singular and the plural name of Endpoints are the same.
      [...new Set([plural, singular, ...shortNames])].map((name) => `${name}.${group}`),
    );
  assert.equal(new Set(names).size, names.length);
  const kinds = storedKinds.map(({ group, kind }) => `${kind}.${group}`);
  assert.equal(new Set(kinds).size, kinds.length);
});

const rules: RulesByType = Object.assign({}, sharedRules, ...registry.map((kind) => kind.rules));
const words = (text = '') => text.split(' ').filter((word) => word !== '');

const described: DescribedTypes = Object.assign({}, ...registry.map((kind) => kind.types));
const fieldNames = (type: string): ReadonlySet<string> | undefined => {
  const own = described[type];
  if (own) return new Set(describedFields(own).map(({ name }) => name));
  const fields = kubernetesFields.typeOf(type)?.fields;
  return fields && new Set(fields.keys());
};

test('every rule is for a type and for fields that Kubernetes or a kind of our own has', () => {
  const wrong = Object.entries(rules).flatMap(
    ([name, { acts, requires, mayLack, defaults, choices, limits, quiet }]) => {
      const fields = fieldNames(name);
      if (!fields) return [name];
      const named = [acts, requires, mayLack].flatMap(words);
      const keys = [defaults, choices, limits, quiet].flatMap((table) => Object.keys(table ?? {}));
      return [...named, ...keys].filter((field) => !fields.has(field)).map((field) => `${name}.${field}`);
    },
  );
  assert.deepEqual(wrong, []);
});

test('the rules of a type are in one place', () => {
  const named = [sharedRules, ...registry.map((kind) => kind.rules ?? {})].flatMap(Object.keys);
  assert.deepEqual(
    named.filter((name, index) => named.indexOf(name) !== index),
    [],
  );
});

/** Returns the types that an object of the type is made of, as far as minik8s acts on them. */
function typesIn(type: ObjectType, seen = new Set<string>()): Set<string> {
  if (seen.has(type.name)) return seen;
  seen.add(type.name);
  for (const { type: inner, rule } of type.fields.values()) {
    const object = objectIn(inner);
    if (object && rule?.acts) typesIn(object, seen);
  }
  return seen;
}

function objectIn(type: FieldType): ObjectType | undefined {
  if (type.kind === 'list') return objectIn(type.items);
  if (type.kind === 'map') return objectIn(type.values);
  return type.kind === 'object' ? type.object : undefined;
}

/**
 * Parts of statuses that minik8s does not write, and fields for which a pod is rejected; all are kept as
 * received.
 */
const withoutRules = [
  'core.v1.AttachedVolume',
  'core.v1.ContainerRestartRule',
  'core.v1.ContainerUser',
  'core.v1.NodeAllocatableResourceClaimStatus',
  'core.v1.NodeConfigStatus',
  'core.v1.NodeFeatures',
  'core.v1.NodeRuntimeHandler',
  'core.v1.PodExtendedResourceClaimStatus',
  'core.v1.PodResourceClaimStatus',
  'core.v1.PodVolumeHealth',
  'core.v1.ResourceStatus',
  'core.v1.VolumeMountStatus',
  'meta.v1.ManagedFieldsEntry',
];

test('every kind that minik8s acts on has rules', () => {
  const served = registry.flatMap(({ typeName }) => kindFields.typeOf(typeName) ?? []);
  const found = new Set(served.flatMap((type) => [...typesIn(type)]).filter((name) => !rules[name]));
  assert.deepEqual([...found].sort(), withoutRules);
});

/** Kinds whose deletion returns an object although upstream's OpenAPI document has a Status. */
const otherwise: Readonly<Record<string, object>> = { Namespace: { deleteAnswers: 'object' } };

// Upstream's read-only kinds have no operation in the client by which the test could find them.
for (const kind of registry.filter(({ types, isMeasured }) => types === undefined && !isMeasured))
  test(`${kind.plural}.${kind.group}/${kind.version} equals Kubernetes' kind`, () => {
    const { namespaced, hasStatus, deleteAnswers } = kind;
    const facts = upstreamFacts(kind) ?? assert.fail('the client of Kubernetes does not know it');
    assert.deepEqual({ namespaced, hasStatus, deleteAnswers }, { ...facts, ...otherwise[kind.kind] });
  });

/**
 * Facts that are only in upstream's strategies, and in no document. Kinds that are in no list have tests
 * of their own.
 */
const strategies = {
  countsGenerations: {
    yes: 'csidrivers cronjobs daemonsets deployments endpointslices flowschemas ingresses ingressclasses jobs mutatingwebhookconfigurations networkpolicies pods poddisruptionbudgets podtemplates priorityclasses prioritylevelconfigurations replicasets replicationcontrollers statefulsets validatingadmissionpolicies validatingadmissionpolicybindings validatingwebhookconfigurations',
    no: 'apiservices certificatesigningrequests clustertrustbundles configmaps controllerrevisions csinodes endpoints events ipaddresses leases limitranges namespaces nodes persistentvolumeclaims persistentvolumes podcertificaterequests resourcequotas roles runtimeclasses secrets serviceaccounts servicecidrs services storageclasses storageversionmigrations volumeattachments volumeattributesclasses',
  },
  updatesNameVersion: {
    yes: 'apiservices clustertrustbundles csidrivers csinodes csistoragecapacities leases mutatingwebhookconfigurations podcertificaterequests poddisruptionbudgets runtimeclasses storageversionmigrations validatingadmissionpolicies validatingadmissionpolicybindings validatingwebhookconfigurations volumeattachments',
    no: 'configmaps deployments events namespaces nodes pods priorityclasses roles secrets services storageclasses volumeattributesclasses',
  },
  createsOnUpdate: {
    yes: 'clusterrolebindings clusterroles endpoints events leases limitranges rolebindings roles runtimeclasses services',
    no: 'apiservices configmaps deployments endpointslices jobs namespaces nodes pods priorityclasses secrets storageclasses',
  },
} as const;

for (const [flag, lists] of Object.entries(strategies))
  test(`exactly the expected kinds have ${flag}`, () => {
    const strategyOf = (plural: string) =>
      registry.find((kind) => kind.plural === plural && !kind.types)?.strategy ?? assert.fail(plural);
    const having = (list: string) =>
      words(list).filter((plural) => strategyOf(plural)[flag as keyof typeof strategies]);
    assert.deepEqual(having(lists.yes), words(lists.yes));
    assert.deepEqual(having(lists.no), []);
  });
