// Translates with one .tflite file and the LiteRT C API: no Python, no tokenizer, nothing beside it.
//
//   translate FILE < TEXTS > TRANSLATIONS
//
// Before each text stands its number of bytes, and a newline: `printf '10\nEin Hund .' | translate
// de-en.tflite`. For each text come `truncated` (0 to 3), the score, the ids of the text, with commas
// between them, and the translation, with spaces between the four, and a zero byte, which no
// translation contains.
//
// The runtime, libLiteRt.so, is in Python's package ai-edge-litert, without headers; so what is used
// of it is declared here, as it is in versions 2.1.6 to 2.3.0. (In 2.1.0 LiteRtCreateModelFromFile
// takes no environment.)

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

extern "C" {

using Environment = struct EnvironmentT*;
using Model = struct ModelT*;
using Signature = struct SignatureT*;
using Tensor = struct TensorT*;
using Options = struct OptionsT*;
using CompiledModel = struct CompiledModelT*;
using Requirements = struct RequirementsT*;
using Buffer = struct BufferT*;

struct TensorType {
  int32_t element_type;
  uint32_t rank : 7;
  uint32_t has_strides : 1;
  int32_t dimensions[8];
  uint32_t strides[8];
};

enum ElementType { kFloat32 = 1, kInt32 = 2, kUint8 = 3 };
enum Accelerator { kCpu = 1 };
enum LockMode { kRead = 0, kWrite = 1 };

// Each returns 0 if all went well.
int LiteRtCreateEnvironment(int count, const void* options, Environment*);
int LiteRtCreateModelFromFile(Environment, const char* path, Model*);
int LiteRtGetNumModelSignatures(Model, size_t* count);
int LiteRtGetModelSignature(Model, size_t index, Signature*);
int LiteRtGetSignatureKey(Signature, const char** key);
int LiteRtGetNumSignatureOutputs(Signature, size_t* count);
int LiteRtGetSignatureOutputName(Signature, size_t index, const char** name);
int LiteRtGetSignatureInputTensorByIndex(Signature, size_t index, Tensor*);
int LiteRtGetSignatureOutputTensorByIndex(Signature, size_t index, Tensor*);
int LiteRtGetRankedTensorType(Tensor, TensorType*);
int LiteRtCreateOptions(Options*);
int LiteRtSetOptionsHardwareAccelerators(Options, int accelerators);
int LiteRtCreateCompiledModel(Environment, Model, Options, CompiledModel*);
int LiteRtGetCompiledModelInputBufferRequirements(CompiledModel, size_t signature, size_t index,
                                                  Requirements*);
int LiteRtGetCompiledModelOutputBufferRequirements(CompiledModel, size_t signature, size_t index,
                                                   Requirements*);
int LiteRtCreateManagedTensorBufferFromRequirements(Environment, const TensorType*, Requirements,
                                                    Buffer*);
int LiteRtRunCompiledModel(CompiledModel, size_t signature, size_t input_count, Buffer* inputs,
                           size_t output_count, Buffer* outputs);
int LiteRtLockTensorBuffer(Buffer, void** memory, LockMode);
int LiteRtUnlockTensorBuffer(Buffer);
void LiteRtDestroyTensorBuffer(Buffer);
void LiteRtDestroyCompiledModel(CompiledModel);
void LiteRtDestroyOptions(Options);
void LiteRtDestroyModel(Model);
void LiteRtDestroyEnvironment(Environment);
}

namespace {

constexpr std::string_view kSignature = "translate";

void Check(int status, const char* what) {
  if (status != 0) {
    std::cerr << "translate: " << what << " failed with status " << status << ".\n";
    std::exit(1);
  }
}
#define CHECK(call) Check(call, #call)

[[noreturn]] void Refuse(const std::string& why) {
  std::cerr << "translate: " << why << "\n";
  std::exit(2);
}

struct Translation {
  std::string text;
  float score;
  int truncated;
  std::vector<int32_t> source_ids;  // With padding.
};

// A tensor of the signature, and the memory that holds it.
struct Slot {
  Buffer buffer;
  size_t size;  // elements

  template <typename T>
  std::vector<T> Read() const {
    void* memory;
    CHECK(LiteRtLockTensorBuffer(buffer, &memory, kRead));
    const T* values = static_cast<const T*>(memory);
    std::vector<T> copy(values, values + size);
    CHECK(LiteRtUnlockTensorBuffer(buffer));
    return copy;
  }
};

class Translator {
 public:
  explicit Translator(const char* path) {
    CHECK(LiteRtCreateEnvironment(0, nullptr, &environment_));
    if (LiteRtCreateModelFromFile(environment_, path, &model_) != 0) {
      Refuse(std::string("The file must be a TFLite model. Received: ") + path);
    }
    const Signature signature = FindSignature();
    CHECK(LiteRtCreateOptions(&options_));
    CHECK(LiteRtSetOptionsHardwareAccelerators(options_, kCpu));
    CHECK(LiteRtCreateCompiledModel(environment_, model_, options_, &compiled_));
    source_ = InputOf(signature);
    translation_ = OutputOf(signature, "translation", kUint8);
    score_ = OutputOf(signature, "score", kFloat32);
    truncated_ = OutputOf(signature, "truncated", kInt32);
    source_ids_ = OutputOf(signature, "source_ids", kInt32);
    OutputOf(signature, "ids", kInt32);  // Every output needs a buffer, read or not.
  }

  ~Translator() {
    LiteRtDestroyTensorBuffer(source_.buffer);
    for (Buffer buffer : outputs_) LiteRtDestroyTensorBuffer(buffer);
    LiteRtDestroyCompiledModel(compiled_);
    LiteRtDestroyOptions(options_);
    LiteRtDestroyModel(model_);
    LiteRtDestroyEnvironment(environment_);
  }

  Translator(const Translator&) = delete;
  Translator& operator=(const Translator&) = delete;

  Translation Translate(std::string_view text) {
    text = text.substr(0, text.find_last_not_of('\0') + 1);  // Zeros at the end are padding.
    const size_t fitting = std::min(text.size(), source_.size);  // The file drops half characters.
    void* memory;
    CHECK(LiteRtLockTensorBuffer(source_.buffer, &memory, kWrite));
    char* source = static_cast<char*>(memory);
    std::fill(std::copy_n(text.data(), fitting, source), source + source_.size, '\0');
    CHECK(LiteRtUnlockTensorBuffer(source_.buffer));
    CHECK(LiteRtRunCompiledModel(compiled_, index_, 1, &source_.buffer, outputs_.size(),
                                 outputs_.data()));
    std::vector<char> said = translation_.Read<char>();
    return {std::string(said.begin(), std::find(said.begin(), said.end(), '\0')),
            score_.Read<float>()[0],
            truncated_.Read<int32_t>()[0] | static_cast<int>(fitting < text.size()),
            source_ids_.Read<int32_t>()};
  }

 private:
  Signature FindSignature() {
    size_t count;
    CHECK(LiteRtGetNumModelSignatures(model_, &count));
    for (index_ = 0; index_ < count; ++index_) {
      Signature signature;
      const char* key;
      CHECK(LiteRtGetModelSignature(model_, index_, &signature));
      CHECK(LiteRtGetSignatureKey(signature, &key));
      if (key == kSignature) return signature;
    }
    Refuse("The file must have a signature 'translate'.");
  }

  Slot InputOf(Signature signature) {
    Tensor tensor;
    Requirements requirements;
    CHECK(LiteRtGetSignatureInputTensorByIndex(signature, 0, &tensor));
    CHECK(LiteRtGetCompiledModelInputBufferRequirements(compiled_, index_, 0, &requirements));
    return SlotFor(tensor, requirements, kUint8);
  }

  // Outputs are called in the order of their names; `outputs_` has those so far.
  Slot OutputOf(Signature signature, std::string_view wanted, ElementType type) {
    size_t count;
    CHECK(LiteRtGetNumSignatureOutputs(signature, &count));
    outputs_.resize(count);
    for (size_t i = 0; i < count; ++i) {
      const char* name;
      CHECK(LiteRtGetSignatureOutputName(signature, i, &name));
      if (name != wanted) continue;
      Tensor tensor;
      Requirements requirements;
      CHECK(LiteRtGetSignatureOutputTensorByIndex(signature, i, &tensor));
      CHECK(LiteRtGetCompiledModelOutputBufferRequirements(compiled_, index_, i, &requirements));
      const Slot slot = SlotFor(tensor, requirements, type);
      outputs_[i] = slot.buffer;
      return slot;
    }
    Refuse("The signature 'translate' must have an output '" + std::string(wanted) + "'.");
  }

  Slot SlotFor(Tensor tensor, Requirements requirements, ElementType wanted) {
    TensorType type;
    CHECK(LiteRtGetRankedTensorType(tensor, &type));
    if (type.element_type != wanted || type.rank != 1) Refuse("A tensor is of another type.");
    Buffer buffer;
    CHECK(LiteRtCreateManagedTensorBufferFromRequirements(environment_, &type, requirements,
                                                          &buffer));
    return {buffer, static_cast<size_t>(type.dimensions[0])};
  }

  Environment environment_;
  Model model_;
  Options options_;
  CompiledModel compiled_;
  size_t index_;  // That of the signature.
  Slot source_, translation_, score_, truncated_, source_ids_;
  std::vector<Buffer> outputs_;
};

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) Refuse("Usage: translate FILE < TEXTS > TRANSLATIONS");
  Translator translator(arguments[1]);
  for (size_t size; std::cin >> size && std::cin.get() == '\n';) {
    std::string text(size, '\0');
    if (!std::cin.read(text.data(), size)) Refuse("A text must have as many bytes as announced.");
    const Translation said = translator.Translate(text);
    std::printf("%d %.9g ", said.truncated, said.score);
    for (size_t i = 0; i < said.source_ids.size(); ++i) {
      std::printf(i ? ",%d" : "%d", said.source_ids[i]);
    }
    std::printf(" %s%c", said.text.c_str(), '\0');
  }
}
