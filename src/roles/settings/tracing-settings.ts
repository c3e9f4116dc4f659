/**
 * Settings of tracing on masters and nodes: the endpoint for spans, and the share of traces that are
 * recorded.
 */

import { tracesUrl } from '../../base/tracing/endpoint.ts';
import { share } from '../../base/tracing/share.ts';
import { define } from './setting-values.ts';

export const tracingSettings = define({
  'tracing-endpoint': {
    about: 'OpenTelemetry collector that receives traces (OTLP over HTTP)',
    hint: 'URL',
    usual: 'nothing is traced',
    read: tracesUrl,
  },
  'tracing-sampling-rate': {
    about: 'share of new traces to record; a trace that a client began follows the decision of the client',
    hint: 'NUMBER',
    default: '1',
    read: share,
  },
});

export const tracingSettingNames = ['tracing-endpoint', 'tracing-sampling-rate'] as const;
