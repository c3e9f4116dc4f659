import assert from 'node:assert/strict';
import { it } from 'node:test';
import { kubernetesFields } from '../../../../../src/api/field-table.ts';
import { convertObject } from '../../../../../src/apimachinery/decode.ts';
import { StatusError } from '../../../../../src/apimachinery/status-error.ts';
import { slurmFileResource } from '../../../../../src/features/slurm/api/slurm-file.ts';

const spec = { job: 'a', jobUID: 'u', kind: 'Output', path: 'stdout', offset: 0, length: 3, data: 'YWJj' };
const decode = (of: object) =>
  convertObject(kubernetesFields, slurmFileResource, { metadata: { name: 'a' }, spec: of }, 'Strict').object;

it('a SlurmFile needs every field, and has one of the kinds', () => {
  assert.deepEqual(decode(spec).spec, spec);
  for (const field of Object.keys(spec))
    assert.throws(
      () => decode({ ...spec, [field]: undefined }),
      (error) => error instanceof StatusError && error.message.includes(`spec.${field}: Required value`),
      field,
    );
  assert.throws(() => decode({ ...spec, kind: 'Log' }), /spec\.kind: Unsupported value/);
});
