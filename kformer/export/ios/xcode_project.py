"""The file `project.pbxproj`, which Xcode opens: an app of some Swift files and resources."""

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath
from typing import Any

TARGET = "Translator"
_IOS = "17.0"
_TYPES = {".swift": "sourcecode.swift", ".txt": "text"}  # Others are plain files.
_SETTINGS = {
    "project": {
        "ALWAYS_SEARCH_USER_PATHS": "NO",
        "CLANG_ENABLE_MODULES": "YES",
        "ENABLE_USER_SCRIPT_SANDBOXING": "NO",  # CocoaPods copies frameworks by a script.
        "IPHONEOS_DEPLOYMENT_TARGET": _IOS,
        "SDKROOT": "iphoneos",
        "SWIFT_VERSION": "5.0",
    },
    "target": {
        "CODE_SIGN_STYLE": "Automatic",
        "CURRENT_PROJECT_VERSION": "1",
        "GENERATE_INFOPLIST_FILE": "YES",
        "INFOPLIST_KEY_UIApplicationSceneManifest_Generation": "YES",
        "INFOPLIST_KEY_UILaunchScreen_Generation": "YES",
        "LD_RUNPATH_SEARCH_PATHS": "$(inherited) @executable_path/Frameworks",
        "MARKETING_VERSION": "1.0",
        "PRODUCT_BUNDLE_IDENTIFIER": "com.example.translator",
        "PRODUCT_NAME": "$(TARGET_NAME)",
        "TARGETED_DEVICE_FAMILY": "1,2",
    },
}
_OF_CONFIGURATION = {
    "Debug": {
        "project": {
            "DEBUG_INFORMATION_FORMAT": "dwarf",
            "ENABLE_TESTABILITY": "YES",
            "GCC_OPTIMIZATION_LEVEL": "0",
            "ONLY_ACTIVE_ARCH": "YES",
            "SWIFT_OPTIMIZATION_LEVEL": "-Onone",
        }
    },
    "Release": {
        "project": {
            "DEBUG_INFORMATION_FORMAT": "dwarf-with-dsym",
            "SWIFT_COMPILATION_MODE": "wholemodule",
            "VALIDATE_PRODUCT": "YES",
        }
    },
}


def xcode_project(name: str, files: Iterable[str]) -> str:
    """Returns the text of `project.pbxproj`."""
    objects: dict[str, dict] = {}
    phases: dict[str, list[str]] = {"PBXSourcesBuildPhase": [], "PBXResourcesBuildPhase": []}
    groups: dict[str, list[str]] = {"": []}
    for path in map(PurePosixPath, files):
        _add_groups(path, groups)
        kind = _TYPES.get(path.suffix, "file")
        objects[_id(path)] = {
            "isa": "PBXFileReference",
            "lastKnownFileType": kind,
            "path": path.name,
            "sourceTree": "<group>",
        }
        built = _id(f"build {path}")
        objects[built] = {"isa": "PBXBuildFile", "fileRef": _id(path)}
        is_source = path.suffix == ".swift"
        phases["PBXSourcesBuildPhase" if is_source else "PBXResourcesBuildPhase"].append(built)
    phases["PBXFrameworksBuildPhase"] = []
    product, products = _add_product(objects)
    groups[""].append(products)
    for group, children in groups.items():
        place = {"path": PurePosixPath(group).name} if group else {}
        objects[_id(f"group {group}")] = {
            "isa": "PBXGroup",
            "children": children,
            **place,
            "sourceTree": "<group>",
        }
    for phase, built_files in phases.items():
        objects[_id(phase)] = {
            "isa": phase,
            "buildActionMask": "2147483647",
            "files": built_files,
            "runOnlyForDeploymentPostprocessing": "0",
        }
    target = _id("target")
    objects[target] = {
        "isa": "PBXNativeTarget",
        "buildConfigurationList": _add_configurations(objects, "target", name),
        "buildPhases": [_id(phase) for phase in phases],
        "buildRules": [],
        "dependencies": [],
        "name": TARGET,
        "productName": TARGET,
        "productReference": product,
        "productType": "com.apple.product-type.application",
    }
    root = _id("project")
    objects[root] = {
        "isa": "PBXProject",
        "attributes": {"BuildIndependentTargetsInParallel": "1", "LastUpgradeCheck": "1600"},
        "buildConfigurationList": _add_configurations(objects, "project", name),
        "compatibilityVersion": "Xcode 14.0",
        "developmentRegion": "en",
        "hasScannedForEncodings": "0",
        "knownRegions": ["en", "Base"],
        "mainGroup": _id("group "),
        "productRefGroup": products,
        "projectDirPath": "",
        "projectRoot": "",
        "targets": [target],
    }
    content = {
        "archiveVersion": "1",
        "classes": {},
        "objectVersion": "56",
        "objects": objects,
        "rootObject": root,
    }
    return f"// !$*UTF8*$!\n{_written(content)}\n"


def _add_product(objects):
    """Adds the app that is built, in a group of its own; returns the ids of both."""
    product, products = _id("product"), _id("products")
    objects[product] = {
        "isa": "PBXFileReference",
        "explicitFileType": "wrapper.application",
        "includeInIndex": "0",
        "path": f"{TARGET}.app",
        "sourceTree": "BUILT_PRODUCTS_DIR",
    }
    objects[products] = {
        "isa": "PBXGroup",
        "children": [product],
        "name": "Products",
        "sourceTree": "<group>",
    }
    return product, products


def _add_groups(path, groups):
    """Adds a file to the group of its folder, and the folder to that of the one above."""
    child = _id(path)
    for folder in path.parents:
        name = "" if str(folder) == "." else str(folder)
        children = groups.setdefault(name, [])
        if child in children:
            return
        children.append(child)
        child = _id(f"group {name}")


def _add_configurations(objects, kind, name):
    """Adds the configurations of the project or of its target; returns the id of their list."""
    ids = []
    for configuration, settings in _OF_CONFIGURATION.items():
        ids.append(_id(f"{kind} {configuration}"))
        shown = {"INFOPLIST_KEY_CFBundleDisplayName": name} if kind == "target" else {}
        objects[ids[-1]] = {
            "isa": "XCBuildConfiguration",
            "buildSettings": {**_SETTINGS[kind], **shown, **settings.get(kind, {})},
            "name": configuration,
        }
    listed = _id(f"{kind} configurations")
    objects[listed] = {
        "isa": "XCConfigurationList",
        "buildConfigurations": ids,
        "defaultConfigurationIsVisible": "0",
        "defaultConfigurationName": "Release",
    }
    return listed


def _id(name: object) -> str:
    """Returns the identifier of an object: 24 hexadecimal digits, the same in each export."""
    return hashlib.sha256(str(name).encode()).hexdigest()[:24].upper()


def _written(value: Any, indent: int = 0) -> str:
    """Returns a value as a property list of the old, textual form."""
    tabs = "\t" * (indent + 1)
    if isinstance(value, Mapping):
        items = [f"{tabs}{_quoted(key)} = {_written(value[key], indent + 1)};" for key in value]
        return "\n".join(("{", *items, "\t" * indent + "}"))
    if isinstance(value, list):
        items = [f"{tabs}{_written(item, indent + 1)}," for item in value]
        return "\n".join(("(", *items, "\t" * indent + ")"))
    return _quoted(value)


def _quoted(text: str) -> str:
    if text and all(character.isascii() and character.isalnum() for character in text):
        return text
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
