/**
 * The fields of Kubernetes' own kinds, with their numbers and merge rules; created once, parsed on demand.
 */
import type { FieldTable } from '../apimachinery/field-types.ts';
import { createTypeTable } from '../apimachinery/type-table.ts';
import { choiceLines, typeLines } from './kubernetes-types.gen.ts';

export const kubernetesFields: FieldTable = createTypeTable(typeLines, choiceLines);
