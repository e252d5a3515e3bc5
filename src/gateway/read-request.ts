import { badRequest, sendAnswer } from './answers.ts';
import { eventOrigin } from './open-call.ts';
import { decodeBody, readBody } from './request-body.ts';
import { type RequestFacts, readRequestFacts } from './request-facts.ts';
import type { Incoming, ServeParts } from './serve-parts.ts';

export interface Facts extends RequestFacts {
  readonly bytes: Buffer;
}

/** Reads and checks the request; when it may not be sent it is answered, and the result is undefined. */
export async function readRequest(parts: ServeParts, incoming: Incoming): Promise<Facts | undefined> {
  const { request, response, requestId, grant } = incoming;
  const raw = await readBody(request);
  const bytes = 'status' in raw ? raw : decodeBody(raw, request.headers['content-encoding']);
  if ('status' in bytes) {
    sendAnswer(response, requestId, bytes);
    return undefined;
  }
  const facts = readRequestFacts(bytes, incoming.dialect);
  if ('problem' in facts) {
    sendAnswer(response, requestId, badRequest(facts.problem));
    return undefined;
  }
  if (facts.model !== grant.model) {
    const data = { asked: facts.model, model: grant.model };
    const event = { at: parts.clock.now(), type: 'model-refused', ...eventOrigin(grant), data };
    await parts.journal.commit([], [event]);
    const message = `Role ${grant.role} may use the model "${grant.model}" only; "${facts.model}" was asked for. Its policy names the model (model.id).`;
    sendAnswer(response, requestId, badRequest(message));
    return undefined;
  }
  return { ...facts, bytes };
}
