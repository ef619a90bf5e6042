import { readTable } from '../table.ts';

export const ai = readTable(`
  Anthropic                 sk-ant-<api|admin|oat|ort|sid><digits:2>-<key:80-140>  https://platform.claude.com/docs/en/get-api-key  2026-11
  Anyscale                  esecret_<lower:24-40>  https://docs.anyscale.com/endpoints/text-generation/query-a-model  2026-11
  Arcade                    arc_<alnum:40-70>  https://docs.arcade.dev/  -
  Arize                     ak-<uuid>-<key:32>  https://arize.com/docs/ax/security-and-settings/api-keys  -
  Braintrust                bt-st-<alnum:40-60>  https://www.braintrust.dev/docs/  -
  Brave Search              BSA<key:28>  https://api-dashboard.search.brave.com/  -
  Browserbase               bb_<live|test>_<key:27>  https://docs.browserbase.com/  -
  Cartesia                  sk_car_<alnum:20-24>  https://docs.cartesia.ai/  -
  Cerebras                  csk-<lower:48>  https://inference-docs.cerebras.ai/quickstart  -
  Chroma                    ck-<alnum:44>  https://docs.trychroma.com/cloud/getting-started  -
  Coze                      pat_<alnum:64>  https://www.coze.com/docs/developer_guides/pat  -
  Cursor                    key_<hex:64> crsr_<hex:64>  https://docs.cursor.com/account/teams/admin-api  -
  Deepseek                  sk-<hex:32>  https://api-docs.deepseek.com/  -
  Dify                      <app|dataset>-<alnum:24>  https://docs.dify.ai/en/guides/application-publishing/developing-with-apis  -
  DVC Studio                isat_<alnum:40-60>  https://dvc.org/doc/studio/user-guide/account-management  -
  E2B                       e2b_<hex:40>  https://e2b.dev/docs/api-key  -
  ElevenLabs                sk_<hex:48>  https://elevenlabs.io/docs/api-reference/authentication  -
  FastGPT                   fastgpt-<alnum:40-64>  https://doc.fastgpt.io/docs/introduction/development/openapi/auth  -
  Firecrawl                 fc-<hex:32>  https://github.com/mendableai/firecrawl/blob/3d260e94f38ff4a9be62d510c658fe0ea84bfc18/apps/api/src/lib/parseApi.ts  2026-11
  Fireworks AI              fw_<alnum:22-24>  https://docs.fireworks.ai/getting-started/quickstart  -
  Freepik                   FPSX<hex:32>  https://docs.freepik.com/authentication  -
  Friendli                  flp_<alnum:40-50>  https://friendli.ai/docs/guides/personal_access_tokens  -
  Groq                      gsk_<alnum:52>  github  -
  Helicone                  sk-helicone-<key:30-44>  https://docs.helicone.ai/  -
  Hugging Face              hf_<alnum:34-40> api_org_<alnum:34>  https://huggingface.co/docs/hub/security-tokens  2026-11
  Humanloop                 hl_sk_<hex:48>  https://humanloop.com/docs/  -
  Hyperbrowser              hb_<hex:28-40>  https://docs.hyperbrowser.ai/  -
  InferBridge               <ib|agni>_<alnum:32>  https://www.inferbridge.dev/docs/api/authentication/  2026-11
  Jina AI                   jina_<key:60>  https://jina.ai/api-dashboard/  -
  Kaggle                    KGAT_<hex:32>  https://www.kaggle.com/docs/api  -
  Lambda                    secret_<word:2-40>_<hex:32>.<alnum:32>  https://docs.lambda.ai/  -
  Langfuse                  sk-lf-<uuid>  https://github.com/langfuse/langfuse/blob/01388fbf4181a67e3083db72f736074d31913525/packages/shared/src/server/auth/apiKeys.ts  2026-11
  LangSmith                 lsv2_<pt|sk>_<hex:32>_<hex:10> ls__<hex:32>  https://docs.langchain.com/langsmith/llm-gateway-authentication  2026-11
  LangWatch                 sk-lw-<alnum:40-60>  https://docs.langwatch.ai/  -
  LlamaCloud                llx-<alnum:48>  https://docs.cloud.llamaindex.ai/  -
  Logfire                   pylf_v<digits:1>_<us|eu>_<alnum:43>  https://logfire.pydantic.dev/docs/  -
  MCPMeter                  mcpm_live_<hex:32>  https://mcpmeter.com/docs/auth  2026-11
  Mem0                      m0-<alnum:40>  https://docs.mem0.ai/platform/quickstart  -
  mem9                      mem9_<alnum:32>  https://github.com/mem9-ai/mem9/issues/75  2026-11
  Mixedbread                <mxb|emb>_<alnum:30-60>  https://www.mixedbread.com/docs/quickstart  -
  Modal                     <ak|as>-<alnum:22> <wk|ws>-<alnum:22>  https://modal.com/docs/reference/modal.config  -
  Murf                      ap2_<uuid>  https://murf.ai/api/docs/introduction/quickstart  -
  Nomic                     nk-<key:43>  https://docs.nomic.ai/  -
  NVIDIA                    nvapi-<key:60-70>  https://docs.nvidia.com/nim/  -
  OpenAI                    sk-<proj|svcacct|admin|None>-<key:40-240> sk-<alnum:20>T3BlbkFJ<alnum:20> sess-<alnum:40> ek_<hex:32>  https://platform.openai.com/docs/api-reference/authentication  -
  OpenAI's dialect          sk-<alnum:32-64>  https://platform.openai.com/docs/api-reference/authentication  -
  OpenPipe                  opk_<hex:40-42>  https://docs.openpipe.ai/  -
  OpenRouter                sk-or-v1-<hex:64>  https://openrouter.ai/docs/guides/features/guardrails/secret-formats  2026-11
  Perplexity                pplx-<alnum:40-56>  https://docs.perplexity.ai/  -
  Pinecone                  pcsk_<alnum:5-6>_<alnum:60-66>  https://docs.pinecone.io/guides/projects/manage-api-keys  -
  PromptLayer               pl_<hex:32>  https://docs.promptlayer.com/  -
  Replicate                 r8_<alnum:37>  https://replicate.com/docs/topics/security/api-tokens  2026-11
  Retell                    key_<hex:28>  https://docs.retellai.com/  -
  RunPod                    rpa_<alnum:40-48>  https://docs.runpod.io/get-started/api-keys  -
  Runway                    key_<hex:128>  https://docs.dev.runwayml.com/guides/setup/  -
  Sourcegraph Amp           sgamp_user_<upper:26>_<hex:64>  https://ampcode.com/manual  -
  Steel                     ste-<alnum:64>  https://docs.steel.dev/  -
  Tavily                    tvly-<key:32-48>  https://github.com/tavily-ai/tavily-python/blob/137dac2a5a74d23af4d0218e72b5ac2e176dafc9/README.md  2026-11
  Together AI               tgp_v1_<key:43>  https://docs.together.ai/docs/quickstart  -
  Turbopuffer               tpuf_<alnum:32>  https://turbopuffer.com/docs/auth  -
  Upstage                   up_<alnum:29>  https://console.upstage.ai/docs/getting-started  -
  Vectara                   <zut|zqt|zwt>_<key:36-60>  https://docs.vectara.com/docs/rest-api/create-api-key  -
  Voiceflow                 VF.<DM|WS>.<hex:24>.<alnum:16>  https://docs.voiceflow.com/reference/authentication  -
  Voyage AI                 pa-<key:43>  https://docs.voyageai.com/docs/api-key-and-installation  -
  Weights & Biases          wandb_v1_<word:60-90>  https://docs.wandb.ai/  -
  Windsurf                  sk-ws-<digits:2>-<key:60-120>  https://docs.windsurf.com/  -
  xAI                       xai-<alnum:80> xai-token-<alnum:70-90>  https://docs.x.ai/docs/overview  -
  ZenML                     <ZENKEY|ZENPROKEY>_<base64:40-400>  https://docs.zenml.io/how-to/manage-zenml-server/connecting-to-zenml/connect-with-a-service-account  -
  Zep                       z_<base64:50-120>.<key:60-100>  https://help.getzep.com/  -
`);
