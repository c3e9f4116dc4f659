/** The steps of an edit: the server's dry run, the save, and the move to a newer version of the object. */
import type { JsonObject } from '../../../apimachinery/equality.ts';
import type { KubeObject } from '../../../apimachinery/meta.ts';
import { isConflict, StatusError } from '../../../apimachinery/status-error.ts';
import { errorMessage } from '../../../base/log.ts';
import { objectPath } from '../../../client/resource-path.ts';
import type { ApiKind } from '../cluster/plan/discovery.ts';
import { request } from '../cluster/request.ts';
import type { Fault } from '../editor/editor.ts';
import { editablePart, objectToSend, pathOfField, rebased } from '../editor/plan/edited-object.ts';

export type Yaml = typeof import('../../../apimachinery/yaml.ts') &
  typeof import('../../../apimachinery/yaml-output/format-yaml.ts');

/** Loads the reader and writer of YAML, which only editors need. */
export async function loadYaml(): Promise<Yaml> {
  const [reader, writer] = await Promise.all([
    import('../../../apimachinery/yaml.ts'),
    import('../../../apimachinery/yaml-output/format-yaml.ts'),
  ]);
  return { ...reader, ...writer };
}

export interface Refusal {
  readonly message: string;
  readonly faults: readonly Fault[];
}

export interface Reviewed {
  /** The object that the server would store, as text. */
  readonly text: string;
  readonly warnings: readonly string[];
}

interface Context {
  readonly kind: ApiKind;
  readonly yaml: Yaml;
}

const hasStatus = ({ kind }: Context) => kind.subresources.includes('status');

/** Sends the object of a text; with `isTrial` the server stores nothing. */
async function put({ kind, yaml }: Context, text: string, base: KubeObject, isTrial: boolean) {
  const object = objectToSend(yaml.parseYaml(text).value, base);
  const { name, namespace } = base.metadata;
  const path = `${objectPath(kind, name, namespace)}?fieldManager=dashboard&fieldValidation=Strict`;
  const response = await request(isTrial ? `${path}&dryRun=All` : path, {
    method: 'PUT',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify(object),
  });
  return { stored: (await response.json()) as KubeObject, warnings: warningsOf(response) };
}

/** Returns the texts of the header Warning: `299 - "text", 299 - "text"`. */
const warningsOf = (response: Response): string[] =>
  Array.from(
    (response.headers.get('warning') ?? '').matchAll(/299 \S+ "((?:[^"\\]|\\.)*)"/g),
    ([, text = '']) => text.replaceAll(/\\(.)/g, '$1'),
  );

export async function review(
  context: Context,
  text: string,
  base: KubeObject,
): Promise<{ readonly reviewed?: Reviewed; readonly refusal?: Refusal }> {
  try {
    const { stored, warnings } = await put(context, text, base, true);
    return {
      reviewed: { text: context.yaml.formatYaml(editablePart(stored, hasStatus(context))), warnings },
    };
  } catch (error) {
    return { refusal: refusalOf(context, text, error) };
  }
}

export async function save(
  context: Context,
  text: string,
  base: KubeObject,
): Promise<{ readonly saved?: KubeObject; readonly refusal?: Refusal }> {
  try {
    return { saved: (await put(context, text, base, false)).stored };
  } catch (error) {
    return { refusal: refusalOf(context, text, error) };
  }
}

function refusalOf({ yaml }: Context, text: string, error: unknown): Refusal {
  if (isConflict(error)) {
    return {
      message: 'Somebody changed the object meanwhile: put your changes on the newer one.',
      faults: [],
    };
  }
  const causes = error instanceof StatusError ? (error.status.details?.causes ?? []) : [];
  const [, line] = /at line (\d+)/.exec(errorMessage(error)) ?? [];
  const faults = causes
    .filter(({ field }) => field !== undefined && field !== '')
    .map(({ field = '', message }) => ({
      offset: offsetOf(yaml, text, field),
      message: `${field}: ${message}`,
    }));
  const inText =
    line === undefined ? [] : [{ offset: offsetOfLine(text, Number(line)), message: errorMessage(error) }];
  return { message: errorMessage(error), faults: [...faults, ...inText] };
}

function offsetOf(yaml: Yaml, text: string, field: string): number {
  try {
    return yaml.parseYaml(text).offsetOf(pathOfField(field));
  } catch {
    return 0;
  }
}

const offsetOfLine = (text: string, line: number): number =>
  text
    .split('\n')
    .slice(0, line - 1)
    .join('\n').length + (line > 1 ? 1 : 0);

/**
 * Returns the text of the newest object with the changes of an edited text; the text itself if it has faults.
 */
export function rebase(context: Context, text: string, base: KubeObject, newest: KubeObject): string {
  const { yaml } = context;
  try {
    const edited = yaml.parseYaml(text).value as JsonObject;
    const part = (object: KubeObject) => editablePart(object, hasStatus(context));
    return yaml.formatYaml(rebased(part(base), edited, part(newest)));
  } catch {
    return text;
  }
}
