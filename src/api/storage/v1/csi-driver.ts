/** CSIDriver: the cluster's information about a storage driver. It is stored; drivers are not called yet. */
import { deepEqual } from '../../../apimachinery/equality.ts';
import { duplicateCause, invalidCause, notSupportedCause } from '../../../apimachinery/field-error.ts';
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import type { StatusCause } from '../../../apimachinery/status-error.ts';
import { ageColumn, nameColumn, none } from '../../columns.ts';
import { unset } from '../../core/v1/volume/columns.ts';
import { storageGroup } from './storage-class.ts';
import type { CSIDriver, TokenRequest } from './types.gen.ts';

const lifecycleModes = ['Persistent', 'Ephemeral'];

function validateDriver({ spec }: CSIDriver): StatusCause[] {
  const modes = spec.volumeLifecycleModes.filter((mode) => !lifecycleModes.includes(mode));
  return [
    ...validateTokens(spec.tokenRequests ?? []),
    ...modes.map((mode) => notSupportedCause('spec.volumeLifecycleModes', mode, lifecycleModes)),
  ];
}

/** Validates token requests: one for each audience, valid for at least ten minutes. */
function validateTokens(requests: readonly TokenRequest[]): StatusCause[] {
  const seen = new Set<string>();
  return requests.flatMap(({ audience, expirationSeconds = 600 }, index) => {
    const path = `spec.tokenRequests[${index}]`;
    if (seen.has(audience)) return [duplicateCause(`${path}.audience`, audience)];
    seen.add(audience);
    const refuse = (why: string) => [invalidCause(`${path}.expirationSeconds`, expirationSeconds, why)];
    if (expirationSeconds < 600) return refuse('may not specify a duration less than 10 minutes');
    return expirationSeconds > 2 ** 32 ? refuse('may not specify a duration larger than 2^32 seconds') : [];
  });
}

/** Rejects changes of immutable fields. The path of the first one is upstream's. */
function validateDriverUpdate({ spec }: CSIDriver, { spec: old }: CSIDriver): StatusCause[] {
  const fixed = (path: string, value: unknown, before: unknown) =>
    deepEqual(value, before) ? [] : [invalidCause(path, value, 'field is immutable')];
  return [
    ...fixed('spec.attachedRequired', spec.attachRequired, old.attachRequired),
    ...fixed('spec.volumeLifecycleModes', spec.volumeLifecycleModes, old.volumeLifecycleModes),
  ];
}

export const csiDriverResource: ResourceDefinition<CSIDriver> = {
  group: storageGroup,
  version: 'v1',
  kind: 'CSIDriver',
  plural: 'csidrivers',
  singular: 'csidriver',
  shortNames: [],
  categories: [],
  namespaced: false,
  typeName: 'storage.v1.CSIDriver',
  rules: {
    'storage.v1.CSIDriver': { defaults: { spec: {} } },
    'storage.v1.CSIDriverSpec': {
      acts: 'attachRequired podInfoOnMount volumeLifecycleModes storageCapacity fsGroupPolicy tokenRequests requiresRepublish seLinuxMount',
      defaults: {
        attachRequired: true,
        podInfoOnMount: false,
        storageCapacity: false,
        fsGroupPolicy: 'ReadWriteOnceWithFSType',
        volumeLifecycleModes: ['Persistent'],
        requiresRepublish: false,
        seLinuxMount: false,
      },
      choices: { fsGroupPolicy: ['File', 'None', 'ReadWriteOnceWithFSType'] },
    },
    'storage.v1.TokenRequest': { defaults: { audience: '' } },
  },
  strategy: {
    setDefaults: ({ spec }) => {
      if (spec.volumeLifecycleModes.length === 0) spec.volumeLifecycleModes = ['Persistent'];
    },
    // Upstream counts only updates.
    prepareForCreate: ({ metadata }) => {
      delete metadata.generation;
    },
    validate: validateDriver,
    validateUpdate: validateDriverUpdate,
    countsGenerations: true,
    updatesNameVersion: true,
  },
  hasStatus: false,
  columns: [
    nameColumn,
    {
      name: 'AttachRequired',
      type: 'boolean',
      description: 'Whether volumes are attached to a node before they are mounted.',
      cell: ({ spec }) => spec.attachRequired,
    },
    {
      name: 'PodInfoOnMount',
      type: 'boolean',
      description: 'Whether the driver receives the pod when it mounts a volume.',
      cell: ({ spec }) => spec.podInfoOnMount,
    },
    {
      name: 'StorageCapacity',
      type: 'boolean',
      description: 'Whether pods are scheduled by the capacity that the driver publishes.',
      cell: ({ spec }) => spec.storageCapacity,
    },
    {
      name: 'TokenRequests',
      type: 'string',
      description: 'Audiences of the tokens for the driver.',
      cell: ({ spec }) => spec.tokenRequests?.map(({ audience }) => audience).join(',') ?? unset,
    },
    {
      name: 'RequiresRepublish',
      type: 'boolean',
      description: 'Whether the driver is called periodically for a mounted volume.',
      cell: ({ spec }) => spec.requiresRepublish,
    },
    {
      name: 'Modes',
      type: 'string',
      description: 'Types of volumes of the driver: persistent, ephemeral.',
      cell: ({ spec }) => spec.volumeLifecycleModes.join(',') || none,
    },
    ageColumn,
  ],
  selectableFields: {},
  deleteAnswers: 'object',
};
