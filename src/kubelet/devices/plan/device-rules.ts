/**
 * Parses the flag --devices: the device files of this machine, and the resource that each of them provides.
 */
import { isExtended, validateContainerResourceName } from '../../../api/core/v1/container/resource-names.ts';

export interface DeviceRule {
  /** Name such as `example.com/gpu`. */
  readonly resource: string;
  readonly directory: string;
  /** Pattern of the names of the devices' files in the directory. */
  readonly name: RegExp;
  /** Shared files that a container gets along with each of these devices. */
  readonly shared: readonly string[];
}

const form =
  'expected RESOURCE=FILE such as example.com/gpu=/dev/gpu*, with +FILE for each file that all of them need';

/** Parses the flag. Throws an Error that describes the expected form. */
export function parseDeviceRules(value: string): readonly DeviceRule[] {
  const rules = value
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map(ruleOf);
  const names = rules.map(({ resource }) => resource);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new Error(`${twice} is given twice`);
  return rules;
}

function ruleOf(text: string): DeviceRule {
  const at = text.indexOf('=');
  const resource = text.slice(0, Math.max(at, 0));
  const [pattern = '', ...shared] = text.slice(at + 1).split('+');
  if (!isExtended(resource) || validateContainerResourceName(resource, '').length > 0)
    throw new Error(`${form}; ${JSON.stringify(resource)} cannot be the name of such a resource`);
  for (const path of [pattern, ...shared])
    if (!isPlainPath(path))
      throw new Error(
        `${form}; ${JSON.stringify(path)} must be the absolute path of a file, without ., .. and //`,
      );
  const slash = pattern.lastIndexOf('/');
  const directory = pattern.slice(0, slash) || '/';
  if ([directory, ...shared].some((path) => path.includes('*')))
    throw new Error(`${form}; * is only allowed in the name of the device's own file`);
  return { resource, directory, name: patternOf(pattern.slice(slash + 1)), shared };
}

const isPlainPath = (path: string) =>
  path.startsWith('/') &&
  path.length > 1 &&
  path
    .slice(1)
    .split('/')
    .every((part) => part !== '' && part !== '.' && part !== '..');

const patternOf = (glob: string) =>
  new RegExp(
    `^${glob
      .split(/\*+/)
      .map((part) => RegExp.escape(part))
      .join('.*')}$`,
  );
