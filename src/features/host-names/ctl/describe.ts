/** `ctl describe dns`: the paths of a host, the Services behind them, and whether they are served. Pure. */
import type { Describer } from '../../../cli/describe/describer.ts';
import { createdLine, headLines, reasonLines, shownAt, tableLines } from '../../../cli/describe/lines.ts';
import { metadataOf, recordsAt, textAt } from '../../../cli/objects/objects.ts';

export const dnsDescriber: Describer = {
  needs: (object) => ({
    services: { apiVersion: 'v1', kind: 'Service', namespace: metadataOf(object).namespace },
  }),
  lines(object, related) {
    const host = textAt(object, 'spec', 'host');
    const addresses = new Map(
      related('services').items.map((one) => [metadataOf(one).name, shownAt(one, 'spec', 'clusterIP')]),
    );
    const rows = recordsAt(object, 'spec', 'paths').map((path) => {
      const service = textAt(path, 'serviceName');
      const address = addresses.get(service) ?? '<not found>';
      return [
        `http://${host}${textAt(path, 'path') || '/'}`,
        `${service}:${shownAt(path, 'servicePort')}`,
        related('services').refused ?? address,
      ];
    });
    return [
      ...headLines(object),
      createdLine(object),
      `Host:\t${host}`,
      ...tableLines('Paths', ['URL', 'Service', 'Address'], rows),
      ...reasonLines(object),
    ];
  },
};
