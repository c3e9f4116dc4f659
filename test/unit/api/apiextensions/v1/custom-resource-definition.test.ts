import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { approvalCondition } from '../../../../../src/api/apiextensions/v1/api-approval.ts';
import {
  type CustomResourceDefinition,
  customResourceDefinitionResource as resource,
} from '../../../../../src/api/apiextensions/v1/custom-resource-definition.ts';
import {
  type WantedCondition,
  withDefinitionCondition,
} from '../../../../../src/api/apiextensions/v1/definition-conditions.ts';
import { deepCopy } from '../../../../../src/apimachinery/equality.ts';
import { inOneGo } from '../../../../../src/apimachinery/steps.ts';

const valid = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', kind: 'Widget' },
    versions: [
      {
        ...{ name: 'v1', served: true, storage: true },
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: { spec: { type: 'object', properties: { size: { type: 'integer' } } } },
          },
        },
      },
    ],
  },
} as unknown as CustomResourceDefinition;

const { strategy } = resource;
const context = { user: { name: 'x', groups: [] }, now: '2026-01-01T00:00:00Z', subresource: '' };

/** Returns a definition with its defaults, after `change`. */
function made(change: (definition: CustomResourceDefinition) => void = () => {}): CustomResourceDefinition {
  const definition = deepCopy(valid);
  change(definition);
  strategy.setDefaults?.(definition);
  strategy.prepareForCreate?.(definition, context);
  return definition;
}

const causesOf = (definition: CustomResourceDefinition) =>
  [
    ...(strategy.validateInSteps ? inOneGo(strategy.validateInSteps(definition)) : []),
    ...(strategy.validateCreate?.(definition) ?? []),
  ].map(({ field, message }) => `${field}: ${message}`);

const version = ({ spec }: CustomResourceDefinition) => {
  const [first] = spec.versions;
  assert.ok(first);
  return first;
};

describe('a CustomResourceDefinition', () => {
  it('has the names that follow from its kind, and its storage version among the stored ones', () => {
    const { spec, status } = made();
    assert.deepEqual(
      [spec.names, spec.conversion, status],
      [
        { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
        { strategy: 'None' },
        { conditions: [], acceptedNames: { plural: '', kind: '' }, storedVersions: ['v1'] },
      ],
    );
    assert.deepEqual(causesOf(made()), []);
  });

  it('is rejected with the field and upstream’s words', () => {
    const cases: readonly (readonly [string, (definition: CustomResourceDefinition) => void])[] = [
      [
        'metadata.name: Invalid value: "gadgets.example.com": must be spec.names.plural+"."+spec.group',
        ({ metadata }) => {
          metadata.name = 'gadgets.example.com';
        },
      ],
      [
        'spec.scope: Required value',
        ({ spec }) => {
          spec.scope = '';
        },
      ],
      [
        'spec.scope: Unsupported value: "Everywhere": supported values: "Cluster", "Namespaced"',
        ({ spec }) => {
          spec.scope = 'Everywhere';
        },
      ],
      [
        'spec.names.listKind: Invalid value: "Widget": kind and listKind may not be the same',
        ({ spec }) => {
          spec.names.listKind = 'Widget';
        },
      ],
      [
        'spec.versions[0].schema.openAPIV3Schema: Required value: schemas are required',
        (definition) => {
          delete version(definition).schema;
        },
      ],
      [
        'spec.subresources.scale.specReplicasPath: Invalid value: ".status.n": should be a json path under .spec',
        (definition) => {
          version(definition).subresources = {
            scale: { specReplicasPath: '.status.n', statusReplicasPath: '.status.n' },
          };
        },
      ],
      [
        'spec.additionalPrinterColumns[0].type: Invalid value: "text": must be one of boolean,date,integer,number,string',
        (definition) => {
          version(definition).additionalPrinterColumns = [{ name: 'A', type: 'text', jsonPath: '.spec.a' }];
        },
      ],
      [
        'spec.selectableFields[0].jsonPath: Invalid value: ".spec.colour": is an invalid path: does not refer to a valid field',
        (definition) => {
          version(definition).selectableFields = [{ jsonPath: '.spec.colour' }];
        },
      ],
      [
        'spec.selectableFields[0].jsonPath: Invalid value: ".spec": must point to a field of type ' +
          `${['boolean or integer', 'string'].reverse().join(', ')}. Enum string fields and strings with formats are allowed.`,
        (definition) => {
          version(definition).selectableFields = [{ jsonPath: '.spec' }];
        },
      ],
      [
        'spec.versions[0].deprecationWarning: Invalid value: "old": can only be set for deprecated versions',
        (definition) => {
          version(definition).deprecationWarning = 'old';
        },
      ],
      [
        'spec.preserveUnknownFields: Invalid value: true: cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead',
        ({ spec }) => {
          spec.preserveUnknownFields = true;
        },
      ],
      [
        'spec.conversion.strategy: Unsupported value: "Magic": supported values: "None", "Webhook"',
        ({ spec }) => {
          spec.conversion = { strategy: 'Magic' };
        },
      ],
    ];
    for (const [cause, change] of cases) assert.deepEqual(causesOf(made(change)), [cause]);
  });

  it('needs exactly one storage version', () => {
    const none = causesOf(
      made((definition) => {
        version(definition).storage = false;
      }),
    );
    assert.match(none.join('\n'), /must have exactly one version marked as storage version/);
  });

  it('keeps every version in which objects may be stored', () => {
    const old = made();
    const next = deepCopy(old);
    next.spec.versions = [{ ...version(next), name: 'v2' }];
    strategy.prepareForUpdate?.(next, old, context);
    assert.deepEqual(next.status?.storedVersions, ['v1', 'v2']);
    assert.deepEqual(causesOf(next), [
      'status.storedVersions[0]: Invalid value: "v1": must appear in spec.versions',
    ]);
  });

  it('keeps its scope and its kind once it is established', () => {
    const old = made();
    const next = deepCopy(old);
    next.spec.scope = 'Cluster';
    assert.deepEqual(strategy.validateUpdate?.(next, old), []);
    const established = {
      ...{ type: 'Established', status: 'True' },
      ...{ reason: 'InitialNamesAccepted', message: '' },
    } as WantedCondition;
    if (old.status) old.status.conditions = withDefinitionCondition([], established, context.now);
    assert.deepEqual(
      strategy.validateUpdate?.(next, old).map(({ message }) => message),
      ['Invalid value: "Cluster": field is immutable'],
    );
  });

  it('needs an approval for a group of the Kubernetes community', () => {
    const inGroup = (annotations?: Record<string, string>) =>
      made(({ metadata, spec }) => {
        spec.group = 'x.k8s.io';
        metadata.name = 'widgets.x.k8s.io';
        if (annotations) metadata.annotations = annotations;
      });
    const key = 'api-approved.kubernetes.io';
    assert.match(
      causesOf(inGroup()).join(),
      /^metadata.annotations\[api-approved.kubernetes.io\]: Required value: protected groups must have/,
    );
    assert.match(causesOf(inGroup({ [key]: 'yes' })).join(), /with either a URL or a reason starting with/);
    assert.deepEqual(causesOf(inGroup({ [key]: 'unapproved, a test' })), []);
    const approved = inGroup({ [key]: 'https://example.com/approval' });
    assert.equal(approvalCondition(approved)?.status, 'True');
    assert.equal(approvalCondition(made()), undefined);
  });

  it('has the finalizer and the condition Terminating from the moment of its deletion', () => {
    const definition = made();
    definition.metadata.deletionTimestamp = context.now;
    strategy.beginDeletion?.(definition);
    strategy.beginDeletion?.(definition);
    assert.deepEqual(definition.metadata.finalizers, ['customresourcecleanup.apiextensions.k8s.io']);
    assert.deepEqual(
      definition.status?.conditions?.map(({ type, status, reason }) => [type, status, reason]),
      [['Terminating', 'True', 'InstanceDeletionPending']],
    );
  });
});
