/**
 * The status of a CustomResourceDefinition: its accepted names and its conditions. Pure.
 */
import { approvalCondition } from '../../api/apiextensions/v1/api-approval.ts';
import { hasUnreadableBundle } from '../../api/apiextensions/v1/conversion-causes.ts';
import type { CustomResourceDefinition } from '../../api/apiextensions/v1/custom-resource-definition.ts';
import {
  isDefinitionTrue,
  type WantedCondition,
  withDefinitionCondition,
} from '../../api/apiextensions/v1/definition-conditions.ts';
import { deepEqual } from '../../apimachinery/equality.ts';
import { acceptedNames, type Others } from './accepted-names-plan.ts';

type Status = NonNullable<CustomResourceDefinition['status']>;

/**
 * Returns the status of a definition; undefined if it needs no change. A definition is established by a
 * second change, once its accepted names have been stored: servers serve it from then on. `now` is in RFC
 * 3339.
 */
export function definitionStatus(
  definition: CustomResourceDefinition,
  others: Others,
  now: string,
): Status | undefined {
  const status: Status = { ...definition.status };
  const { names, condition } = acceptedNames(definition, others);
  const wanted: WantedCondition[] = [
    condition,
    establishedCondition(definition, condition),
    approvalCondition(definition),
  ].filter((one) => one !== undefined);
  let { conditions } = status;
  for (const one of wanted) conditions = withDefinitionCondition(conditions, one, now);
  const next = { ...status, acceptedNames: names, ...(conditions && { conditions }) };
  return deepEqual(next, definition.status) ? undefined : next;
}

/** Returns the condition Established; undefined for a definition that is established, since it stays so. */
function establishedCondition(
  definition: CustomResourceDefinition,
  { status }: WantedCondition,
): WantedCondition | undefined {
  if (isDefinitionTrue(definition, 'Established')) return undefined;
  const type = 'Established';
  if (status !== 'True')
    return { type, status: 'False', reason: 'NotAccepted', message: 'not all names are accepted' };
  if (hasUnreadableBundle(definition)) {
    const message = 'The conversion webhook CABundle is invalid';
    return { type, status: 'False', reason: 'InvalidCABundle', message };
  }
  const message = 'the initial names have been accepted';
  return isDefinitionTrue(definition, 'NamesAccepted')
    ? { type, status: 'True', reason: 'InitialNamesAccepted', message }
    : { type, status: 'False', reason: 'Installing', message };
}
