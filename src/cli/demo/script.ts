/** What a scripted model is asked, the same for every protocol. */
export interface ScriptRequest {
  readonly protocol: ScriptProtocol;
  readonly model: string;
  /** The credential that came with the request. */
  readonly key: string;
  readonly system: string;
  /** Neighbouring messages of one side are one message, so that both protocols look alike. */
  readonly messages: readonly ScriptMessage[];
  /** Assistant messages so far: the index of the answer that is asked for. */
  readonly turn: number;
  /** Names of the tools on offer. */
  readonly tools: readonly string[];
  /** From the line `Role: coder` of the system prompt. */
  readonly role: string | undefined;
  /** From the line `Task: T1` of the first user message. */
  readonly task: string | undefined;
  /** From the line `Attempt: 2` of the first user message; 1 when there is none. */
  readonly attempt: number;
  readonly stream: boolean;
  readonly maxTokens: number | undefined;
  readonly temperature: number | undefined;
}

export type ScriptProtocol = 'anthropic' | 'openai-chat';

export interface ScriptMessage {
  readonly role: 'user' | 'assistant';
  readonly text: string;
  readonly toolCalls: readonly { readonly id: string; readonly name: string; readonly input: unknown }[];
  readonly toolResults: readonly { readonly id: string; readonly text: string; readonly isError: boolean }[];
}

export interface Reply {
  readonly text?: string;
  /** Thinking with its signature, before the text (anthropic only). */
  readonly thinking?: { readonly text: string; readonly signature: string };
  readonly toolCalls?: readonly ReplyCall[];
  /** Disjoint classes; derived from the sizes of body and answer when absent. */
  readonly usage?: ReplyUsage;
  /** The answer does not say what it used; the books do. */
  readonly hidesUsage?: boolean;
  /** The model was stopped by its output cap. Also set when `usage.output` is over the cap of the request. */
  readonly stop?: 'max_tokens';
  /** An HTTP status other than 200 answers with `body` (or an error of the protocol that says `text`). */
  readonly status?: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** The connection is destroyed after so many events (0: before the answer begins). */
  readonly cutAfterEvents?: number;
  readonly delayMs?: number;
}

export interface ReplyCall {
  readonly name: string;
  readonly input: unknown;
  /** Sent as the arguments instead of `input`, to be malformed. */
  readonly rawInput?: string;
}

interface ReplyUsage {
  readonly input: number;
  readonly output: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
}

/** Must depend on the request only, so that a call repeated after a crash gets the same answer. */
export type Script = (request: ScriptRequest) => Reply | Promise<Reply>;

/**
 * A script out of tables: replies in the order of turns, by role. The most specific key wins:
 * `T1/coder#2`, `T1/coder`, `coder#2`, `coder`. A role that the prompt does not name is recognised from the model id
 * or the key. After the last reply of a table, and for a request that no table knows, the model has nothing to add.
 */
export function tableScript(steps: Readonly<Record<string, readonly Reply[]>>): Script {
  return (request) => {
    const key = tableKey(Object.keys(steps), request);
    return (key === undefined ? undefined : steps[key]?.[request.turn]) ?? { text: 'Nothing more to do.' };
  };
}

function tableKey(keys: readonly string[], request: ScriptRequest): string | undefined {
  const role = request.role ?? roleFromNames(keys, request);
  if (role === undefined) return undefined;
  const candidates = [
    `${request.task}/${role}#${request.attempt}`,
    `${request.task}/${role}`,
    `${role}#${request.attempt}`,
    role,
  ];
  return candidates.find((candidate) => keys.includes(candidate));
}

function roleFromNames(keys: readonly string[], request: ScriptRequest): string | undefined {
  const roles = new Set(keys.map((key) => key.replace(/^.*\//, '').replace(/#.*$/, '')));
  return [...roles].find((role) => request.model.includes(role) || request.key.includes(role));
}
