/** Readers of an Ingress for rules. Pure. */

import type { JsonObject } from '../apimachinery/equality.ts';
import { metadataOf, numberAt, recordAt, recordsAt, textAt, valueAt } from '../apimachinery/fields.ts';
import { command } from './command.ts';
import { inNamespace } from './kinds.ts';
import type { Mend } from './rule.ts';

/** A Service of an Ingress; the port is a number or a name. */
export interface Backend {
  readonly service: string;
  readonly port: number | string;
}

export function backendsOf(ingress: JsonObject): readonly Backend[] {
  const rules = recordsAt(ingress, 'spec', 'rules').flatMap((rule) =>
    recordsAt(rule, 'http', 'paths').map((path) => recordAt(path, 'backend')),
  );
  return [recordAt(ingress, 'spec', 'defaultBackend'), ...rules].flatMap((backend) => {
    const service = textAt(backend, 'service', 'name');
    const port = valueAt(backend, 'service', 'port');
    return service === '' ? [] : [{ service, port: textAt(port, 'name') || numberAt(port, 'number') }];
  });
}

export function editIngress(ingress: JsonObject): Mend {
  const { name, namespace } = metadataOf(ingress);
  return { command: command`edit ingress ${name}${inNamespace({ namespace })}`, about: 'to correct it' };
}
