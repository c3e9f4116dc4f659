/** The messages of grpc.health.v1.Health/Check, and the outcome of its responses for a probe. */
import { eachField, WireReader } from '../../../apimachinery/protobuf/reader.ts';
import { framed } from '../../../grpc/frames.ts';
import type { GrpcError } from '../../../grpc/status.ts';
import { failure, type Outcome, success } from './outcome.ts';

export const healthCheck = '/grpc.health.v1.Health/Check';

/** Returns a framed request. `service` is the request's field of that name; '' for the server as a whole. */
export const healthRequest = (service: string): Buffer =>
  framed(service.length + 8, (writer) => {
    if (service !== '') writer.string(1, service);
  });

const serving = 1;
const statuses = ['UNKNOWN', 'SERVING', 'NOT_SERVING', 'SERVICE_UNKNOWN'];

/** Returns the outcome of a response. Throws ProtobufError for an invalid message. */
export function healthOutcome(answer: Uint8Array): Outcome {
  let status = 0;
  eachField(new WireReader(answer), {
    1: (reader, wire) => {
      status = reader.int32(wire);
    },
  });
  if (status === serving) return success('service healthy');
  return failure(`service unhealthy (responded with ${JSON.stringify(statuses[status] ?? String(status))})`);
}

/** Returns the outcome of a failed call. `within` is the probe's timeout as text. */
export function healthFailure(error: GrpcError, within: string): Outcome {
  if (error.status === 'UNIMPLEMENTED')
    return failure(
      `error: this server does not implement the grpc health protocol (grpc.health.v1.Health): ${error.details}`,
    );
  if (error.status === 'DEADLINE_EXCEEDED')
    return failure(`timeout: health rpc did not complete within ${within}`);
  const code = codeOf(error.status);
  return failure(`error: health rpc probe failed: rpc error: code = ${code} desc = ${error.details}`);
}

/** Returns the status as Go writes it, such as `NotFound`; `OK` is not a failure. */
const codeOf = (status: string) =>
  status === 'CANCELLED'
    ? 'Canceled'
    : status.toLowerCase().replaceAll(/(?:^|_)(.)/g, (_, letter) => letter.toUpperCase());
