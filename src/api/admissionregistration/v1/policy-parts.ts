/** Rules of the parts that policies of both kinds have. */
import { invalidCause, requiredCause } from '../../../apimachinery/field-error.ts';
import { checkDns1035Label, checkDns1123Subdomain, nameCauses } from '../../../apimachinery/names.ts';
import type { StatusCause } from '../../../apimachinery/status-error.ts';
import { isIdentifier } from './expressions/compile-variables.ts';
import { validateMatchResources } from './match-resources.ts';
import type { MatchResources, ParamKind, Variable } from './types.gen.ts';

export function validateParamKind({ apiVersion = '', kind = '' }: ParamKind, path: string): StatusCause[] {
  return [
    ...(apiVersion === ''
      ? [requiredCause(`${path}.apiVersion`)]
      : validateApiVersion(apiVersion, `${path}.apiVersion`)),
    ...(kind === ''
      ? [requiredCause(`${path}.kind`)]
      : checkDns1035Label(kind.toLowerCase()).map((why) =>
          invalidCause(`${path}.kind`, kind, `may have mixed case, but should otherwise match: ${why}`),
        )),
  ];
}

function validateApiVersion(apiVersion: string, path: string): StatusCause[] {
  const parts = apiVersion.split('/');
  if (parts.length > 2)
    return [invalidCause(path, apiVersion, `unexpected GroupVersion string: ${apiVersion}`)];
  const [version = '', group = ''] = parts.reverse();
  return [
    ...(group === '' ? [] : nameCauses(path, group, checkDns1123Subdomain)),
    ...(version === ''
      ? [invalidCause(path, apiVersion, 'version must be specified')]
      : nameCauses(path, version, checkDns1035Label)),
  ];
}

export function validateConstraints(constraints: MatchResources | undefined, path: string): StatusCause[] {
  if (!constraints) return [requiredCause(path)];
  const causes = validateMatchResources(constraints, path);
  return constraints.resourceRules?.length ? causes : [...causes, requiredCause(`${path}.resourceRules`)];
}

export function validateVariable({ name, expression }: Variable, path: string): StatusCause[] {
  const named =
    name.trim() === ''
      ? [requiredCause(`${path}.name`, 'name is not specified')]
      : isIdentifier(name)
        ? []
        : [invalidCause(`${path}.name`, name, 'name is not a valid CEL identifier')];
  if (expression.trim() !== '') return named;
  return [...named, requiredCause(`${path}.expression`, 'expression is not specified')];
}
