/** The fields of Kubernetes' own kinds, with their merge rules; made once, read on demand. */
import { createFieldTable, type FieldTable } from '../apimachinery/field-types.ts';
import { fieldTypes } from './fields.gen.ts';
import { atomicTypes, mergeRules } from './merge-keys.ts';

export const kubernetesFields: FieldTable = createFieldTable(fieldTypes, mergeRules, atomicTypes);
