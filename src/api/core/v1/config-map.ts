import { invalidCause, tooLongCause } from '../../../apimachinery/field-error.ts';
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import type { StatusCause } from '../../../apimachinery/status-error.ts';
import { ageColumn, nameColumn } from '../../columns.ts';
import { base64Bytes, maxDataBytes, utf8Bytes, validateDataKeys, validateImmutableData } from './data.ts';
import type { ConfigMap } from './types.gen.ts';

export type { ConfigMap } from './types.gen.ts';

function validateData({ data = {}, binaryData = {} }: ConfigMap): StatusCause[] {
  const bytes =
    Object.values(data).reduce((sum, text) => sum + utf8Bytes(text), 0) +
    Object.values(binaryData).reduce((sum, text) => sum + base64Bytes(text), 0);
  return [
    ...validateDataKeys(data, 'data'),
    ...Object.keys(data)
      .filter((key) => Object.hasOwn(binaryData, key))
      .map((key) => invalidCause(`data[${key}]`, key, 'duplicate of key present in binaryData')),
    ...validateDataKeys(binaryData, 'binaryData'),
    ...(bytes > maxDataBytes ? [tooLongCause('[]', maxDataBytes)] : []),
  ];
}

export const configMapResource: ResourceDefinition<ConfigMap> = {
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  singular: 'configmap',
  shortNames: ['cm'],
  categories: [],
  namespaced: true,
  typeName: 'core.v1.ConfigMap',
  rules: {
    'core.v1.ConfigMap': {},
  },
  strategy: {
    validate: validateData,
    validateUpdate: (configMap, old) => validateImmutableData(configMap, old, ['data', 'binaryData']),
    countsGenerations: false,
  },
  hasStatus: false,
  columns: [
    nameColumn,
    {
      name: 'Data',
      type: 'string',
      description: 'The number of keys.',
      cell: ({ data = {}, binaryData = {} }) => Object.keys(data).length + Object.keys(binaryData).length,
    },
    ageColumn,
  ],
  selectableFields: {},
  deleteAnswers: 'status',
};
