/** Checks of the names under which a custom kind is served. Pure. */
import { invalidCause, requiredCause } from '../../../apimachinery/field-error.ts';
import { checkDns1035Label } from '../../../apimachinery/names.ts';
import type { StatusCause } from '../../../apimachinery/status-error.ts';
import type { CustomResourceDefinitionNames } from './types.gen.ts';

function labelCauses(path: string, value: string | undefined): StatusCause[] {
  const wrong = value ? checkDns1035Label(value) : [];
  return wrong.length > 0 ? [invalidCause(path, value, wrong.join(','))] : [];
}

function kindCauses(path: string, value: string | undefined): StatusCause[] {
  const wrong = value ? checkDns1035Label(value.toLowerCase()) : [];
  if (wrong.length === 0) return [];
  const detail = `may have mixed case, but should otherwise match: ${wrong.join(',')}`;
  return [invalidCause(path, value, detail)];
}

/** Returns the causes of names that are set, whether in the specification or in the status. */
export function nameListCauses(names: CustomResourceDefinitionNames, path: string): StatusCause[] {
  const { plural, singular, kind, listKind, shortNames = [], categories = [] } = names;
  return [
    ...labelCauses(`${path}.plural`, plural),
    ...labelCauses(`${path}.singular`, singular),
    ...kindCauses(`${path}.kind`, kind),
    ...kindCauses(`${path}.listKind`, listKind),
    ...shortNames.flatMap((name, index) => listedLabelCauses(`${path}.shortNames[${index}]`, name)),
    ...(kind && kind === listKind
      ? [invalidCause(`${path}.listKind`, listKind, 'kind and listKind may not be the same')]
      : []),
    ...categories.flatMap((name, index) => listedLabelCauses(`${path}.categories[${index}]`, name)),
  ];
}

/** An item of a list must be a label even if it is empty. */
function listedLabelCauses(path: string, value: string): StatusCause[] {
  const wrong = checkDns1035Label(value);
  return wrong.length > 0 ? [invalidCause(path, value, wrong.join(','))] : [];
}

/** Returns the causes of the names of the specification, where some are required. */
export function requestedNameCauses(names: CustomResourceDefinitionNames): StatusCause[] {
  const path = 'spec.names';
  const required = ['plural', 'singular', 'kind', 'listKind'] as const;
  return [
    ...required.flatMap((name) => (names[name] ? [] : [requiredCause(`${path}.${name}`)])),
    ...nameListCauses(names, path),
  ];
}
