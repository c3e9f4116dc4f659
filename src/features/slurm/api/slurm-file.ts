/** SlurmFile: a part of a file that a SlurmJob has fetched: its output, the log of its build, or a result. */
import { ageColumn, nameColumn } from '../../../api/columns.ts';
import { headRules } from '../../../api/own-kind.ts';
import { deepEqual } from '../../../apimachinery/equality.ts';
import { forbiddenCause, invalidCause, invalidTogetherCause } from '../../../apimachinery/field-error.ts';
import { checkDns1123Label, nameCauses } from '../../../apimachinery/names.ts';
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import type { StatusCause } from '../../../apimachinery/status-error.ts';
import { slurmFileTypes } from './slurm-file-types.ts';
import type { SlurmFile } from './types.gen.ts';

export type { SlurmFile } from './types.gen.ts';

export const slurmFileKinds = ['Output', 'Error', 'Build', 'Result'] as const;

/** Maximum bytes of one SlurmFile. */
export const maxSlurmChunk = 512 * 1024;

function validate({ spec }: SlurmFile): StatusCause[] {
  const { job, path, offset, length, data } = spec;
  const causes = nameCauses('spec.job', job, checkDns1123Label);
  // The file is written below a directory on the machine of the client that fetches it.
  const isBelow = path.split('/').every((part) => part !== '' && part !== '.' && part !== '..');
  if (!isBelow || path.includes('\0') || path.length > 4096)
    causes.push(
      invalidCause('spec.path', path, "must be a relative path without '.' and '..' as an element"),
    );
  if (offset < 0) causes.push(invalidCause('spec.offset', offset, 'must be greater than or equal to 0'));
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(data) || data.length % 4 !== 0)
    causes.push(invalidTogetherCause('spec.data', 'must be base64'));
  else if (Buffer.byteLength(data, 'base64') !== length || length < 1 || length > maxSlurmChunk) {
    const rule = `must be the number of bytes of data, from 1 to ${maxSlurmChunk}`;
    causes.push(invalidCause('spec.length', length, rule));
  }
  return causes;
}

export const slurmFileResource: ResourceDefinition<SlurmFile> = {
  group: 'minik8s.io',
  version: 'v1',
  kind: 'SlurmFile',
  plural: 'slurmfiles',
  singular: 'slurmfile',
  shortNames: ['sf'],
  categories: [],
  namespaced: true,
  typeName: 'SlurmFile',
  types: slurmFileTypes,
  rules: {
    SlurmFile: headRules('SlurmFile'),
    SlurmFileSpec: { choices: { kind: slurmFileKinds } },
  },
  strategy: {
    validate,
    validateUpdate: ({ spec }, old) =>
      deepEqual(spec, old.spec) ? [] : [forbiddenCause('spec', 'a SlurmFile cannot be changed')],
    countsGenerations: true,
  },
  hasStatus: false,
  columns: [
    nameColumn,
    { name: 'Job', type: 'string', description: 'The SlurmJob of the file.', cell: ({ spec }) => spec.job },
    { name: 'Kind', type: 'string', description: 'Kind of the file.', cell: ({ spec }) => spec.kind },
    { name: 'Path', type: 'string', description: 'The path of the file.', cell: ({ spec }) => spec.path },
    {
      name: 'Offset',
      type: 'integer',
      description: 'Offset of the piece in the file, in bytes.',
      cell: ({ spec }) => spec.offset,
    },
    {
      name: 'Bytes',
      type: 'integer',
      description: 'Length of the piece in bytes.',
      cell: ({ spec }) => spec.length,
    },
    ageColumn,
  ],
  selectableFields: {
    'spec.job': ({ spec }) => spec.job,
    'spec.jobUID': ({ spec }) => spec.jobUID,
    'spec.kind': ({ spec }) => spec.kind,
  },
  deleteAnswers: 'status',
};
