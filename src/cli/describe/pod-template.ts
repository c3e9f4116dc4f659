/** The pod template of a workload. Pure. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { recordAt, recordsAt, textAt } from '../objects/objects.ts';
import { containerLines } from './containers.ts';
import { annotationLines, labelLines, optionalLine } from './lines.ts';
import { spreadLines, tolerationLines } from './placement.ts';
import { volumeLines } from './volumes.ts';

export function podTemplateLines(template: JsonObject): string[] {
  const spec = recordAt(template, 'spec');
  const annotations = recordAt(template, 'metadata', 'annotations');
  const initContainers = recordsAt(spec, 'initContainers');
  return [
    'Pod Template:',
    ...labelLines('Labels', recordAt(template, 'metadata', 'labels'), '  '),
    ...(Object.keys(annotations).length > 0 ? annotationLines('  Annotations', annotations) : []),
    ...optionalLine('  Service Account', textAt(spec, 'serviceAccountName')),
    ...(initContainers.length > 0 ? containerLines('Init Containers', initContainers, { statuses: [] }) : []),
    ...containerLines('Containers', recordsAt(spec, 'containers'), { statuses: [] }),
    ...volumeLines(recordsAt(spec, 'volumes'), '  '),
    ...spreadLines(recordsAt(spec, 'topologySpreadConstraints'), '  '),
    ...optionalLine('  Priority Class Name', textAt(spec, 'priorityClassName')),
    ...labelLines('Node-Selectors', recordAt(spec, 'nodeSelector'), '  '),
    ...tolerationLines(recordsAt(spec, 'tolerations'), '  '),
  ];
}
