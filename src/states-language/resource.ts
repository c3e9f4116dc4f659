/** The Resource of a Task, parsed here only. */

export type Resource = {
  readonly type: 'function' | 'workflow' | 'job';
  readonly name: string;
  readonly namespace?: string;
};

export const resourceForms = ['function:NAME', 'workflow:NAME', 'job:NAME'];

const name = '[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?';
const form = new RegExp(`^(function|workflow|job):(?:(${name})/)?(${name}(?:\\.${name})*)$`);
/** ARNs of AWS for functions and state machines; region and account are ignored. */
const arn = new RegExp(
  `^arn:[-a-z]+:(?:lambda:[-a-z0-9]*:\\d*:(function)|states:[-a-z0-9]*:\\d*:(stateMachine)):(${name})$`,
);

/**
 * Parses `function:NAME`, `workflow:NAME`, `job:NAME`, each also as `…:NAMESPACE/NAME`, and the ARNs of
 * Lambda functions and state machines, whose region and account are ignored. Returns undefined for anything
 * else.
 */
export function parseResource(text: string): Resource | undefined {
  if (text.length > 512) return undefined;
  const [, type, namespace, found = ''] = form.exec(text) ?? [];
  if (type === 'function' || type === 'workflow' || type === 'job')
    return { type, name: found, ...(namespace !== undefined && { namespace }) };
  const [, isFunction, , named] = arn.exec(text) ?? [];
  if (named === undefined) return undefined;
  return { type: isFunction === undefined ? 'workflow' : 'function', name: named };
}
