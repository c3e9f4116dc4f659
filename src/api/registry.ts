/** The kinds of kinds.ts, and the fields of kinds. */

import type { FieldTable } from '../apimachinery/field-types.ts';
import type { ResourceDefinition } from '../apimachinery/resource-definition.ts';
import { createTypeTable } from '../apimachinery/type-table.ts';
import * as kinds from './kinds.ts';
import { choiceLines, typeLines } from './kubernetes-types.gen.ts';
import { sharedRules } from './shared-rules.ts';

export const kubernetesKinds: readonly ResourceDefinition[] = Object.values(kinds);

/** Returns the fields of all types that the kinds consist of, with the kinds' own rules. */
export const fieldsOf = (all: readonly ResourceDefinition[]): FieldTable =>
  createTypeTable(typeLines, choiceLines, Object.assign({}, sharedRules, ...all.map(({ rules }) => rules)));
